import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bash, call, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { personAt } from '../support/person.js';
import { ALLOWED, crew, GOAL, VERIFY } from '../support/real-agents/crew.js';
import { RealRig, type RealWorldOptions } from '../support/real-agents/rig.js';
import type { McpCaller } from '../support/session-rig.js';

let rig: RealRig;
afterEach(() => rig.close(), 120_000);

const COMMIT = 'echo made > made.txt && git add -A && git commit -qm made';
const wait = { worker_id: 'w01', timeout_s: 90 };

const RULES = [
  program('colour', says('what colour'), function* () {
    yield call('report_done', { summary: 'it is blue' });
    yield say('Blue.');
  }),
  program('background', says('leave it running'), function* () {
    // Longer than a process may take to end after its last word.
    yield bash(`sleep 14; ${COMMIT}`, { run_in_background: true });
    yield say('It runs.');
    yield call('report_done', { summary: 'it ran' });
    yield say('Done.');
  }),
  program('work', says('make it'), function* () {
    yield bash(COMMIT);
    yield call('report_done', { summary: 'it is made' });
    yield say('Done.');
    yield call('report_done', { summary: 'said again' });
    yield call('report_done', { summary: 'said again' });
    yield say('Done again.');
  }),
  program('permission', says('what time'), function* () {
    yield bash('date > stamp.txt');
    yield bash(COMMIT);
    yield call('report_done', { summary: 'asked' });
    yield say('Done.');
  }),
  program('forgets', says('forget it'), function* () {
    yield bash(COMMIT);
    yield say('I am through.');
    yield call('report_done', { summary: 'reported when asked' });
    yield say('Done.');
  }),
  program('slow', says('be slow'), function* () {
    yield bash('until test -e ../go; do sleep 0.1; done');
    yield bash(COMMIT);
    // The supervisor may be away still.
    for (let isError = true; isError;) {
      ({ isError = false } = (yield call('report_done', { summary: 'slow but sure' })).results[0] ?? {});
      if (isError) yield bash('sleep 1');
    }
    yield say('Done.');
  }),
  {
    name: 'broken',
    when: says('meet a failure'),
    steps: [{ fail: { status: 400, message: 'no such model' } }],
  },
];

async function begin(options: RealWorldOptions = {}): Promise<McpCaller> {
  rig = await RealRig.create({ rules: RULES, settings: ALLOWED, ...options });
  const plan = { worker_backend: 'headless', bypass_permissions: false } as const;
  return rig.startWorkersOf('claude', plan);
}

describe('Claude Code without a terminal', () => {
  it('does its work, tells what it says and does, and goes on in its conversation', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'make it' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'it is made' });
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'say it again' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'said again' });
    const types = rig.types('w01');
    for (const type of ['tool.called', 'tool.returned', 'text.completed', 'usage.reported'])
      expect(types).toContain(type);
    expect(types.filter((type) => type === 'thread.opened')).toHaveLength(1);
    expect(rig.llm.prompts()).toEqual([expect.stringContaining('make it'), 'say it again']);
    await expect.poll(() => rig.screen('w01'), { timeout: 20_000 }).toContain('Done again.');
  });

  it('is asked for its report at the end of its turn, in the same process', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'forget it' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({
      state: 'done',
      summary: 'reported when asked',
    });
    expect(rig.types('w01').filter((type) => type === 'run.started')).toHaveLength(1);
  });

  it('is not over while something of it runs in the background, which wakes it', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'leave it running' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'it ran' });
    expect(rig.types('w01').filter((type) => type === 'run.started')).toHaveLength(1);
    expect(rig.llm.prompts()).toHaveLength(1);
  });

  it('begins a new conversation, once, where the one it had is gone', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'make it' });
    await lead.ok('wait_for_worker', wait);
    await rig.event('the end of its process', ({ type }) => type === 'run.attempt_ended');
    rmSync(join(rig.world.sandbox.home, '.claude/projects'), { recursive: true });
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'what colour is it?' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'it is blue' });
    const types = rig.types('w01');
    expect(types.filter((type) => type === 'thread.lost')).toHaveLength(1);
    expect(types.filter((type) => type === 'thread.opened')).toHaveLength(2);
  });

  it.each([
    [1, 'yes'],
    [2, 'no'],
  ])('asks for a permission through its hook; answer %i is %s', async (choice, word) => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'what time' });
    const item = await personAt(rig).item('w01');
    expect(item).toMatchObject({ kind: 'permission', text: expect.stringContaining('date') });
    const { body } = await personAt(rig).answer({ worker_id: 'w01', choice, prompt_hash: item.prompt_hash });
    expect(body).toMatchObject({ answered: true, evidence: 'protocol' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'asked' });
    const result = rig.events().find(({ type }) => type === 'tool.returned');
    expect(result?.data).toMatchObject({ is_error: word === 'no' });
  });

  it('waits for the answer as long as a person takes', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'what time' });
    const item = await personAt(rig).item('w01');
    await new Promise((resolve) => setTimeout(resolve, 75_000));
    await personAt(rig).answer({ worker_id: 'w01', choice: 1, prompt_hash: item.prompt_hash });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'asked' });
  });

  it('says what failed', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'meet a failure' });
    const seen = await lead.ok('wait_for_worker', wait);
    expect(seen).toMatchObject({ state: 'waiting' });
    expect(JSON.stringify(seen)).toContain('no such model');
  });

  it('goes on while its supervisor is dead; what it said meanwhile is there, once', async () => {
    const lead = await begin();
    const { worktree } = await lead.ok('spawn_worker', { task: 'be slow' });
    await rig.event('its command', ({ type }) => type === 'tool.called');
    await rig.crash();
    execFileSync('touch', [join(String(worktree), '..', 'go')]);
    await rig.takeUp();
    const again = await rig.lead();
    expect(await again.ok('wait_for_worker', wait)).toMatchObject({
      state: 'done',
      summary: 'slow but sure',
    });
    expect(rig.llm.prompts()).toHaveLength(1);
  });
});

describe('a crew of Claude Code in panes and without', () => {
  it('brings one verified branch home', async () => {
    rig = await RealRig.create({ rules: crew(), sampleProject: true, settings: ALLOWED });
    await rig.startWith('claude', {
      ...{ goal: GOAL, verify_commands: VERIFY, bypass_permissions: false },
      worker_backend: 'headless',
    });
    const ended = await rig.event('end of session', ({ type }) => type === 'session.ended', 180_000);
    expect(ended.data).toMatchObject({ state: 'done' });
    const branch = `agentorchestr/${rig.sessionId}/integration`;
    expect(rig.repo.git('show', `${branch}:src/tools.js`)).toContain('{ capitalize, slug, words }');
  });
});
