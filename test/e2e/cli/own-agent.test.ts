import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../support/tmux.js';
import { CliRig } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

const VERIFIED = ['--yes', '--no-attach', '--verify', 'test -f b.txt'];

/** A lead with one worker of an agent by this name, whose work is integrated when it is done. */
const leadOf = (agent: string, end: string) => `lead:
  - match: '^# Goal$'
    times: 1
    steps:
      - call: spawn_worker
        with: { task: Write b.txt, perspective: implementer, agent_hint: ${agent} }
        save: one
      - call: wait_for_worker
        with: { worker_id: '{{one.worker_id}}' }
        while: { ask_again: true }
        save: waited
${end}`;

const INTEGRATED = `      - call: integrate_worker
        with: { worker_id: '{{one.worker_id}}' }
      - call: verify
        until: { state: { not: running } }
      - call: mark_goal_done
        with: { summary: b.txt is there }
`;

const GIVEN_UP = `      - call: mark_goal_failed
        with: { reason: the worker did not report }
`;

/** A program that knows nothing of ours: it reads its prompt, works, and ends. \`report\` is what it does at the end. */
function standIn(name: string, report: string): void {
  rig.fakeProgram(
    name,
    `[ "$1" = --version ] && { echo "${name} 9.9"; exit; }
prompt=$(cat)
printf '%s\\n' "$*" "$HOUSE_STYLE" "$prompt" >"$HOME/${name}.saw"
printf 'b\\n' >b.txt
git add b.txt && git commit --quiet -m 'Add b'
echo 'b.txt is written'
${report}`,
  );
}

const SENTINEL = String.raw`printf '%s\n' "$prompt" | sed -n 's/.*starts with \(WORKER_DONE\[[^]]*\]\).*/\1: b.txt written/p'`;
const FLAG = String.raw`flag=$(printf '%s\n' "$prompt" | sed -n 's/.*summary below it to \(.*done.flag\) .*/\1/p')
printf 'done\nb.txt written, says the flag\n' >"$flag.new" && mv "$flag.new" "$flag"`;

function agentsToml(text: string): void {
  rig.file('state/agents.toml', text);
}

async function goal(script: string, args: readonly string[] = []) {
  const playing = rig.playing(script);
  playing[1] = 'scripted,house';
  const finished = await rig.run([
    '--goal',
    'Write b',
    '--lead',
    'scripted',
    ...VERIFIED,
    ...playing,
    ...args,
  ]);
  const [sessionId = ''] = rig.sessionIds();
  const worker = rig.look((store) => store.worker(sessionId, 'w01'));
  const events = rig.look((store) => store.events({ after: 0, sessionId, limit: 10_000 }));
  const of = (type: string) =>
    events
      .filter((event) => event.type === type && event.worker_id === 'w01')
      .map(({ evidence, data }) => ({ evidence, data }));
  return { ...finished, sessionId, worker, of };
}

describe('an agent of one’s own, told by agents.toml', () => {
  it('[own agent] is found, spawned by the lead, given its prompt, commits, reports by a line, and is integrated', async () => {
    standIn('house-cli', SENTINEL);
    agentsToml(`[agents.house]
display_name = "House agent"
binaries = ["house-cli"]
implement = 6
permissions = "bypass"
env = { HOUSE_STYLE = "in {worktree}" }

[agents.house.turn]
argv = ["{binary}", "run"]
bypass_args = ["--yolo"]
default_args = ["--ask"]
`);
    const detected = await rig.run(['--detect', '--json']);
    const { agents } = JSON.parse(detected.stdout) as {
      agents: { name: string; version: string; launchable: boolean }[];
    };
    expect(agents.find(({ name }) => name === 'house')).toMatchObject({
      version: 'house-cli 9.9',
      launchable: true,
    });

    const { code, stdout, stderr, sessionId, worker, of } = await goal(leadOf('house', INTEGRATED));
    expect(stderr).not.toContain('error:');
    expect(code).toBe(0);
    expect(stdout).toMatch(/w01 {2}implementer {2}house {2}done {2}integrated {2}b\.txt written/);
    expect(rig.repo.git('show', `agentorchestr/${sessionId}/integration:b.txt`)).toBe('b');
    const [flags, style, ...prompt] = readFileSync(
      join(rig.world.sandbox.home, 'house-cli.saw'),
      'utf8',
    ).split('\n');
    expect(flags).toBe('run --yolo');
    expect(style).toBe(`in ${worker?.worktree}`);
    expect(prompt.join('\n')).toContain('# Task\nWrite b.txt');
    // It has no word of its own: only that its process began with the text is claimed.
    expect(of('message.submitted')).toEqual([
      {
        evidence: 'process',
        data: expect.objectContaining({
          how: 'its process began with the text on its standard input',
        }) as unknown,
      },
    ]);
    expect(of('run.succeeded')).toEqual([{ evidence: 'sentinel', data: { summary: 'b.txt written' } }]);
    expect(of('worker.ready')).toEqual([]);
    expect(of('text.completed').map(({ data }) => data)).toContainEqual({ text: 'b.txt is written' });
  });

  it('reports by its flag as well', async () => {
    standIn('house', FLAG);
    agentsToml('[agents.house.turn]\nargv = ["{binary}"]\n');
    const { code, of } = await goal(leadOf('house', INTEGRATED));
    expect(code).toBe(0);
    expect(of('run.succeeded')).toEqual([
      { evidence: 'flag', data: { summary: 'b.txt written, says the flag' } },
    ]);
  });

  it('that ends without a report has failed, whatever it committed and whatever its exit status', async () => {
    standIn('house', 'exit 0');
    agentsToml('[agents.house.turn]\nargv = ["{binary}"]\n');
    const { code, of } = await goal(leadOf('house', GIVEN_UP));
    expect(code).toBe(2);
    expect(of('run.succeeded')).toEqual([]);
    expect(of('run.failed')).toEqual([
      { evidence: 'process', data: { summary: 'b.txt is written', failure_code: 'AGENT_EXITED' } },
    ]);
    expect(of('worker.exited')).toMatchObject([{ data: { status: 0 } }]);
  });

  it('with permission prompts left on is started so', async () => {
    standIn('house', SENTINEL);
    agentsToml(`[agents.house]
permissions = "default"
[agents.house.turn]
argv = ["{binary}"]
bypass_args = ["--yolo"]
default_args = ["--ask"]
`);
    expect((await goal(leadOf('house', INTEGRATED))).code).toBe(0);
    expect(readFileSync(join(rig.world.sandbox.home, 'house.saw'), 'utf8').split('\n')[0]).toBe('--ask');
  });

  it('with rules for its screen lives in a pane: typed for, watched, integrated', async () => {
    const program = join(rig.root, 'bin/agentorchestr-scripted.cjs');
    rig.fakeProgram(
      'house',
      `[ "$1" = --version ] && { echo house 2; exit; }\nexec "${process.execPath}" "${program}" "$@"`,
    );
    const worker = rig.file(
      'worker.yaml',
      `workers:
  - contains: Write b.txt
    steps:
      - write: b.txt
        content: "b\\n"
      - commit: Add b
      - report_done: b.txt written
`,
    );
    agentsToml(`[agents.house]
mcp = true
options.script = { summary = "what it plays", required = true, file = true, args = ["--script", "{value}"] }

[agents.house.pane]
argv = ["{binary}", "--role", "{role}", "--mcp-url", "{mcp_url}", "--token-env", "{token_variable}", "--state", "{directory}/conversations"]

[agents.house.pane.screen]
states = [
  { when = '\\n  working · [^\\n]*\\s*$', means = "working" },
  { when = '\\n  ready · [^\\n]*\\s*$', means = "idle" },
]
composer = { prompt = '^> ?', above = '^─{8,}$', end = '^─{8,}$' }
`);
    const { code, stdout, of } = await goal(leadOf('house', INTEGRATED), [
      '--agent-option',
      `house.script=${worker}`,
    ]);
    expect(stdout).toMatch(/w01 {2}implementer {2}house {2}done {2}integrated {2}b\.txt written/);
    expect(code).toBe(0);
    expect(of('worker.ready')).toHaveLength(1);
    expect(of('run.succeeded')).toMatchObject([{ evidence: 'protocol' }]);
  });
});

it('an own agent goes on while its supervisor is dead, and the next one learns what it did', async () => {
  standIn('house', `echo begun >>"$HOME/begun"\nuntil [ -e "$HOME/go" ]; do sleep 0.05; done\n${SENTINEL}`);
  agentsToml('[agents.house.turn]\nargv = ["{binary}"]\n');
  const script = `lead:
  - match: '^# Goal$'
    times: 1
    steps:
      - call: spawn_worker
        with: { task: Write b.txt, perspective: implementer, agent_hint: house }
      - end: true
  - contains: reports done
    steps:
      - call: integrate_worker
        with: { worker_id: w01 }
      - call: verify
        until: { state: { not: running } }
      - call: mark_goal_done
        with: { summary: b.txt is there }
  - steps: [{ end: true }]
`;
  const playing = rig.playing(script);
  playing[1] = 'scripted,house';
  const { home } = rig.world.sandbox;
  const running = rig.start(['--goal', 'Write b', '--lead', 'scripted', ...VERIFIED, ...playing]);
  const [, sessionId = ''] = await running.says(/session ([0-9a-f]{8}) runs/);
  await until(() => existsSync(join(home, 'begun')), 'the worker at work', 60_000);
  process.kill(rig.control(sessionId).pid, 'SIGKILL');
  await running.finished;
  writeFileSync(join(home, 'go'), '');
  const { code, stdout } = await rig.run(['--resume', sessionId, '--no-attach']);
  expect(stdout).toMatch(/w01 {2}implementer {2}house {2}done {2}integrated {2}b\.txt written/);
  expect(code).toBe(0);
  expect(readFileSync(join(home, 'begun'), 'utf8')).toBe('begun\n');
});

it('a mistake in agents.toml is told with file, line, key and the nearest key, before anything starts', async () => {
  agentsToml(
    '[agents.house]\nbinaries = ["house"]\n\n[agents.house.turn]\nargv = ["{binary}"]\nformt = "plain"\n',
  );
  const { code, stderr } = await rig.run(['--detect']);
  expect(code).toBe(64);
  expect(stderr).toBe(
    `error: ${join(rig.paths.config, 'agents.toml')}:6: unknown key "agents.house.turn.formt"\nhint: did you mean format?\n`,
  );
});
