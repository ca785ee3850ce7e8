import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bash, call, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { RealRig } from '../support/real-agents/rig.js';
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
  program('work', says('make it'), function* () {
    yield bash(COMMIT);
    yield call('report_done', { summary: 'it is made' });
    yield say('Done.');
    yield call('report_done', { summary: 'said again' });
    yield call('report_done', { summary: 'said again' });
    yield say('Done again.');
  }),
  program('forgets', says('forget it'), function* () {
    yield bash(COMMIT);
    yield say('I am through.');
    yield call('report_done', { summary: 'reported when asked' });
    yield say('Done.');
  }),
  {
    name: 'broken',
    when: says('meet a failure'),
    steps: [{ fail: { status: 400, message: 'no such model' } }],
  },
];

async function begin(): Promise<McpCaller> {
  rig = await RealRig.create({ rules: RULES });
  return rig.startWorkersOf('codex', { worker_backend: 'headless' });
}

describe('Codex without a terminal', () => {
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
  });

  it('is asked for its report by a turn of its own', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'forget it' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({
      state: 'done',
      summary: 'reported when asked',
    });
    expect(rig.types('w01').filter((type) => type === 'run.started')).toHaveLength(2);
  });

  it('says what failed', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'meet a failure' });
    const seen = await lead.ok('wait_for_worker', wait);
    expect(seen).toMatchObject({ state: 'waiting' });
    expect(JSON.stringify(seen)).toContain('no such model');
  });

  it('begins a new conversation, once, where the one it had is gone', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'make it' });
    await lead.ok('wait_for_worker', wait);
    await rig.event('the end of its process', ({ type }) => type === 'run.attempt_ended');
    rmSync(join(rig.world.sandbox.home, '.codex/sessions'), { recursive: true });
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'what colour is it?' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'it is blue' });
    const types = rig.types('w01');
    expect(types.filter((type) => type === 'thread.lost')).toHaveLength(1);
    expect(types.filter((type) => type === 'thread.opened')).toHaveLength(2);
  });

  it('has its settings left as they are', async () => {
    const config = () => readFileSync(join(rig.world.sandbox.home, '.codex/config.toml'), 'utf8');
    const lead = await begin();
    const before = config();
    await lead.ok('spawn_worker', { task: 'make it' });
    await lead.ok('wait_for_worker', wait);
    expect(config()).toBe(before);
  });
});
