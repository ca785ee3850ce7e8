import { afterEach, describe, expect, it } from 'vitest';
import { personAt } from '../support/person.js';
import { bash, call, program, say } from '../support/mock-llm/program.js';
import { says, type Rule } from '../support/mock-llm/reply.js';
import { ALLOWED, crew, GOAL, VERIFY } from '../support/real-agents/crew.js';
import { RealRig, type RealWorldOptions } from '../support/real-agents/rig.js';

let rig: RealRig;
afterEach(() => rig.close(), 120_000);

async function begin(rules: readonly Rule[], options: RealWorldOptions = {}): Promise<void> {
  rig = await RealRig.create({ rules, sampleProject: true, settings: ALLOWED, ...options });
  await rig.startWith('claude', { goal: GOAL, verify_commands: VERIFY, bypass_permissions: false });
}

async function done(): Promise<void> {
  const ended = await rig.event('end of session', ({ type }) => type === 'session.ended', 180_000);
  expect(ended.data).toMatchObject({ state: 'done' });
  const branch = `agentorchestr/${rig.sessionId}/integration`;
  expect(rig.repo.git('show', `${branch}:src/tools.js`)).toContain('{ capitalize, slug, words }');
  expect(rig.repo.git('show', `${branch}:NOTES.md`)).toContain('words counts');
}

/** [31] What the person had is what the person has. */
const USERS_OWN = { 'their-server': { type: 'http', url: 'http://127.0.0.1:9/mcp' } };

describe('a crew of Claude Code', () => {
  it('[31] asks, stops at a permission, meets in a conflict, and brings one verified branch home', async () => {
    await begin(crew({ beforeWords: [bash('date > stamp.txt && rm stamp.txt')] }), { servers: USERS_OWN });
    const item = await personAt(rig).item('w02', 'date');
    expect(item).toMatchObject({
      kind: 'permission',
      via: 'hook',
      text: expect.stringMatching(/^Bash: date/),
    });
    // The hook may be there before its dialog.
    await expect.poll(() => rig.screen('w02'), { timeout: 20_000 }).toContain('Do you want to proceed?');
    const answered = await personAt(rig).answer({
      worker_id: 'w02',
      prompt_hash: item.prompt_hash,
      choice: 1,
    });
    expect(answered.body).toMatchObject({ answered: true, evidence: 'protocol' });
    await done();
    const types = rig.types();
    for (const type of ['question.asked', 'question.answered', 'permission.answered', 'conflict.predicted'])
      expect(types).toContain(type);
    const submitted = rig.events().filter(({ type }) => type === 'message.submitted');
    expect(submitted.map(({ evidence }) => evidence)).toEqual(submitted.map(() => 'protocol'));
    expect(rig.home('settings.json')).toEqual(ALLOWED);
    expect(rig.home('../.claude.json')).toMatchObject({ mcpServers: USERS_OWN });
  });

  it('goes on through failures of its API, in the middle of turns', async () => {
    const overloaded = { fail: { status: 529, message: 'Overloaded' }, times: 2 };
    const rules = crew().map((rule): Rule => {
      const { play } = rule;
      if (play === undefined) return rule;
      return {
        ...rule,
        play: (exchange) => {
          const afterwards = play(exchange);
          if (!('calls' in afterwards) && !('text' in afterwards)) return afterwards;
          const second = exchange.conversation.turns.filter(({ role }) => role === 'assistant').length === 2;
          if (!second) return afterwards;
          return rule.name === 'words' ? { drop: true, times: 1, afterwards } : { ...overloaded, afterwards };
        },
      };
    });
    await begin(rules);
    await done();
    expect(rig.llm.requests.length).toBeGreaterThan(25);
  });

  it('its lead may end its turns: it is woken by what happens', async () => {
    await begin(crew({ leadEndsTurns: true }));
    await done();
    const pasted = rig.llm.prompts().filter((prompt) => prompt.includes('News from your workers'));
    expect(pasted.length).toBeGreaterThan(1);
  });

  it('a worker whose process dies is told to the lead, who has another do it', async () => {
    const [lead, ...workers] = crew({
      slug: [bash('kill -9 $PPID')],
      afterDeath: true,
    });
    await begin([...(lead === undefined ? [] : [lead]), ...workers]);
    await done();
    expect(rig.store.worker(rig.sessionId, 'w01')).toMatchObject({ state: 'exited', exit_status: 137 });
  });

  it('a worker without quota waits for a person, and the lead is told what it says', async () => {
    await begin([
      program('lead', says('# Goal\n'), function* () {
        yield call('spawn_worker', { task: 'QUOTA', perspective: 'implementer' });
        const { results } = yield call('wait_for_worker', { worker_id: 'w01' });
        yield call('mark_goal_failed', { reason: results[0]?.text ?? '' });
        yield say('Given up.');
      }),
      {
        name: 'quota',
        when: says('QUOTA'),
        steps: [
          { fail: { status: 400, message: 'Your credit balance is too low to access the Anthropic API.' } },
        ],
      },
    ]);
    const ended = await rig.event('end of session', ({ type }) => type === 'session.ended', 120_000);
    expect(ended.data).toMatchObject({ state: 'failed' });
    expect(rig.events().find(({ type }) => type === 'run.waiting')?.data).toMatchObject({
      kind: 'quota',
      text: 'Credit balance is too low',
    });
  });

  it('a lead that never comes to an end is asked twice, then a person is', async () => {
    await begin([
      program('lead', says('# Goal\n'), function* () {
        for (;;) yield say('I am thinking about it.');
      }),
    ]);
    const item = await personAt(rig).item('lead');
    expect(item).toMatchObject({ kind: 'stuck' });
    const nudges = rig
      .events()
      .filter(
        ({ type, data }) => type === 'message.accepted' && (data as { kind?: string }).kind === 'nudge',
      );
    expect(nudges).toHaveLength(2);
  });

  it('[36] a lead that dies is started again in its own conversation', async () => {
    await begin([
      program('lead', says('# Goal\n'), function* () {
        // Once: what it did last may not be in the conversation yet when it dies. It writes that a little later than it
        // does it, and one that has written nothing has no conversation to go on in.
        const kept = 'until grep -qs "# Goal" "$HOME"/.claude/projects/*/*.jsonl; do sleep 0.1; done';
        yield bash(`mkdir "$HOME/died" && { ${kept}; kill -9 $PPID; }; echo alive`);
        yield call('mark_goal_failed', { reason: 'I came back' });
        yield say('Bye.');
      }),
    ]);
    const ended = await rig.event('end of session', ({ type }) => type === 'session.ended', 120_000);
    expect(ended.data).toMatchObject({ state: 'failed', summary: 'I came back' });
    const threads = rig
      .events()
      .filter(({ type, worker_id: id }) => type === 'thread.opened' && id === 'lead');
    expect(threads).toHaveLength(1);
  });
});

describe('a person in the lead’s pane', () => {
  it('types while the lead works: news wait for the draft, and what the person says goes as it is', async () => {
    await begin([
      program('lead', says('# Goal\n'), function* () {
        yield call('spawn_worker', { task: 'be quick', perspective: 'implementer' });
        let { prompt } = yield say('I wait to be woken.');
        while (!prompt.includes('be done with it')) ({ prompt } = yield say('Seen.'));
        yield call('mark_goal_failed', { reason: prompt });
        yield say('Bye.');
      }),
      program('quick', says('be quick'), function* () {
        yield bash('sleep 4');
        for (let tries = 0; tries < 2; tries++) yield call('report_done', { summary: 'was quick' });
        yield say('Done.');
      }),
    ]);
    const me = personAt(rig);
    await rig.event(
      'the worker’s turn',
      ({ type, worker_id: id }) => type === 'message.started' && id === 'w01',
    );
    me.press('lead', '-l', 'please be done');
    const held = await rig.event(
      'held news',
      ({ type, worker_id: id }) => type === 'message.held' && id === 'lead',
    );
    expect(held.data).toMatchObject({ reason: 'human_draft' });
    expect(me.screen('lead')).toMatch(/❯\s+please be done\n/);
    me.press('lead', '-l', ' with it');
    me.press('lead', 'Enter');
    const ended = await rig.event('end of session', ({ type }) => type === 'session.ended', 60_000);
    expect(ended.data).toMatchObject({ summary: 'please be done with it' });
  });
});

describe('a supervisor that is killed', () => {
  it('is followed by another: the crew goes on where it was, through five seconds without tools', async () => {
    await begin(crew());
    await rig.event('the question', ({ type }) => type === 'question.asked');
    await rig.crash();
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    await rig.takeUp();
    await done();
    const recovered = rig.events().find(({ type }) => type === 'supervisor.recovered');
    expect(recovered?.data).toMatchObject({ lost: [] });
    const goals = rig.llm.prompts().filter((prompt) => prompt.includes('# Goal\n'));
    expect(goals).toHaveLength(1);
    for (const tool of ['slug', 'words']) {
      const tasks = rig.llm.prompts().filter((prompt) => prompt.includes(`Add the tool "${tool}".`));
      expect(tasks).toHaveLength(1);
    }
  });
});
