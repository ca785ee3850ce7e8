import { bash, call, calls, program, say, type Answer } from '../mock-llm/program.js';
import { says } from '../mock-llm/reply.js';
import type { Rule, Step } from '../mock-llm/reply.js';

/** What a person would have allowed a crew on the sample project; `date` stops it at a permission. */
export const ALLOWED = { permissions: { allow: ['Bash', 'Write', 'Edit'], ask: ['Bash(date:*)'] } };
/** "report X" is reported as X. */
export const REPORTS: Rule = {
  name: 'report',
  when: says('report '),
  steps: [
    ({ prompt }) => call('report_done', { summary: prompt }),
    // Without a change it is asked once whether it is sure.
    ({ prompt }) => call('report_done', { summary: prompt }),
    { text: 'done' },
  ],
};
export const VERIFY = [{ label: 'test', command: 'node --test', source: 'test' }];
export const GOAL = 'Add the tools slug and words to the sample project.';

const SLUG = 'Add the tool "slug"';
const WORDS = 'Add the tool "words"';

/** A tool of the sample project: its file, and the line of the list that every tool has to change. */
function writeTool(name: string, body: string): string {
  return [
    `printf '%s\\n' 'export const ${name} = (text) => ${body};' > src/${name}.js`,
    `sed -i "1i import { ${name} } from './${name}.js';" src/tools.js`,
    `sed -i "s/TOOLS = { capitalize/TOOLS = { capitalize, ${name}/" src/tools.js`,
    'node --test',
    'git add -A',
    `git commit -qm 'Add ${name}'`,
  ].join(' && ');
}

const MERGED = `import { capitalize } from './capitalize.js';
import { slug } from './slug.js';
import { words } from './words.js';

/** Every tool, by its name. */
export const TOOLS = { capitalize, slug, words };
`;

export interface CrewOptions {
  /** Played by the second worker before its work: what stops it at a permission. */
  readonly beforeWords?: readonly Step[];
  /** Played by the first worker instead of asking how to name things. */
  readonly slug?: readonly Step[];
  /** The lead never waits in a tool: it ends its turn and is woken. */
  readonly leadEndsTurns?: boolean;
  /** The first worker does not survive its first step; the lead has a third one do its task. */
  readonly afterDeath?: boolean;
  /** What the workers are and where they run; absent: as the session says. */
  readonly workers?: { readonly slug: WorkerKind; readonly words: WorkerKind };
}

/** A lead and two workers on the sample project: a question, a conflict that goes back, verification, the verdict. */
export function crew(options: CrewOptions = {}): readonly Rule[] {
  return [
    program('lead', says('# Goal\n'), function* () {
      yield calls(
        {
          tool: 'spawn_worker',
          input: {
            task: `${SLUG}.`,
            perspective: 'implementer',
            idempotency_key: 's',
            ...by(options.workers?.slug),
          },
        },
        {
          tool: 'spawn_worker',
          input: {
            task: `${WORDS}.`,
            perspective: 'implementer',
            idempotency_key: 'w',
            ...by(options.workers?.words),
          },
        },
      );
      const wait = options.leadEndsTurns === true ? woken : until;
      let slug = 'w01';
      if (options.afterDeath === true) {
        yield* until(['w01'], 'exited');
        yield call('spawn_worker', {
          task: `${SLUG} again.`,
          perspective: 'implementer',
          idempotency_key: 's2',
        });
        slug = 'w03';
      }
      yield* wait([slug], 'waiting');
      yield* insist('send_to_worker', { worker_id: slug, message: 'Call it slug.', idempotency_key: 'name' });
      yield* wait([slug, 'w02'], 'done');
      yield call('integrate_worker', { worker_id: slug });
      yield call('integrate_worker', { worker_id: 'w02', on_conflict: 'worker' });
      yield* wait(['w02'], 'done');
      yield call('integrate_worker', { worker_id: 'w02' });
      yield call('verify');
      yield call('mark_goal_done', { summary: 'slug and words are there' });
      yield say('The goal is done.');
    }),
    program('slug', says(SLUG), function* (first) {
      if (!first.includes('again.')) yield* options.slug ?? [];
      yield call('ask_lead', { question: 'What shall I call it?' });
      const { prompt } = yield say('I wait for the answer.');
      if (!prompt.includes('Call it slug')) yield call('report_blocked', { reason: `no answer: ${prompt}` });
      yield bash(writeTool('slug', 'text.toLowerCase().replace(/[^a-z0-9]+/g, "-")'));
      yield* insist('report_done', { summary: 'slug is there' });
      yield say('Done.');
    }),
    program('words', says(WORDS), function* (first) {
      const worktree = /your own git worktree, (.+), on branch/.exec(first)?.[1] ?? '';
      yield* options.beforeWords ?? [];
      yield call('Write', {
        file_path: `${worktree}/NOTES.md`,
        content: 'words counts what stands between blanks',
      });
      yield bash(writeTool('words', 'text.split(" ").length'));
      yield* insist('report_done', { summary: 'words is there' });
      const { prompt } = yield say('Done.');
      const branch = /git merge (\S+)/.exec(prompt)?.[1] ?? 'nothing';
      yield bash(`git merge --no-edit ${branch}; true`);
      yield bash(`cat > src/tools.js <<'END'\n${MERGED}END`);
      yield bash("node --test && git add -A && git commit -qm 'Merge: list slug and words'");
      yield call('report_done', { summary: 'merged' });
      yield say('Done.');
    }),
  ];
}

interface WorkerKind {
  readonly agent: string;
  readonly backend: 'tmux' | 'headless';
}

function by(kind: WorkerKind | undefined): Record<string, string> {
  return kind === undefined ? {} : { agent_hint: kind.agent, backend: kind.backend };
}

/** Asks again for as long as it must; a lead that is refused gives up and says why. */
function* until(ids: readonly string[], state: string): Generator<Step, void, Answer> {
  for (;;) {
    const result = yield* insist('wait_for_worker', { worker_ids: ids, mode: 'all' });
    if (result?.isError !== false) yield call('mark_goal_failed', { reason: result?.text ?? 'no answer' });
    const seen = (result?.['results'] ?? []) as { state: string }[];
    if (seen.length > 0 && seen.every((each) => each.state === state)) return;
  }
}

/** Ends its turn, again and again, until what it was woken for shows in the list. */
function* woken(ids: readonly string[], state: string): Generator<Step, void, Answer> {
  for (;;) {
    const { results } = yield call('list_workers');
    const workers = (results[0]?.['workers'] ?? []) as { worker_id: string; state: string }[];
    if (ids.every((id) => workers.some((each) => each.worker_id === id && each.state === state))) return;
    yield say('I wait to be woken.');
  }
}

/** As a model would: a tool that cannot be reached is tried again a little later. An error of ours is an answer. */
function* insist(
  tool: string,
  input: Record<string, unknown>,
): Generator<Step, Answer['results'][number] | undefined, Answer> {
  for (let tries = 0; ; tries++) {
    const { results } = yield call(tool, input);
    const [result] = results;
    const isOurs = result === undefined || !result.isError || 'error' in result;
    if (isOurs || tries === 20) return result;
    yield bash('sleep 1');
  }
}
