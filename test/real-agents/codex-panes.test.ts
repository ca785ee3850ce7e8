import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bash, call, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { personAt } from '../support/person.js';
import { ClaudeRig } from '../support/real-agents/rig.js';
import type { McpCaller } from '../support/session-rig.js';

let rig: ClaudeRig;
afterEach(() => rig.close(), 120_000);

const COMMIT = 'echo made > made.txt && git add -A && git commit -qm made';
const wait = { worker_id: 'w01', timeout_s: 90 };

const RULES = [
  program('work', says('make it'), function* () {
    yield bash(COMMIT);
    yield call('report_done', { summary: 'it is made' });
    yield say('Done.');
    for (;;) {
      yield call('report_done', { summary: 'said again' });
      yield call('report_done', { summary: 'said again' });
      yield say('Done again.');
    }
  }),
  program('forgets', says('forget it'), function* () {
    yield bash(COMMIT);
    yield say('I am through.');
    yield call('report_done', { summary: 'reported when asked' });
    yield say('Done.');
  }),
  program('asks', says('ask before it'), function* () {
    const { results } = yield bash(COMMIT, { escalate: true });
    const summary = /reject|denied|declin|refus|not allow|not approve|hook/i.test(results[0]?.text ?? '')
      ? 'was not allowed'
      : 'it is made';
    yield call('report_done', { summary });
    yield call('report_done', { summary });
    yield say('Done.');
  }),
  {
    name: 'broken',
    when: says('meet a failure'),
    steps: [{ fail: { status: 400, message: 'no such model' } }],
  },
];

async function begin(plan: object = {}): Promise<McpCaller> {
  rig = await ClaudeRig.create({ rules: RULES });
  const silent = await rig.silentLead();
  await rig.startClaude({
    ...silent,
    worker_agents: ['codex'],
    binaries: { ...silent.binaries, codex: rig.codex },
    ...plan,
  });
  return rig.lead();
}

describe('Codex in a pane', () => {
  it('does its work, and takes what follows; a draft of a person is left alone', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'make it' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'it is made' });
    const me = personAt(rig);
    me.press('w01', '-l', 'my own thought');
    await expect.poll(() => me.screen('w01'), { timeout: 20_000 }).toContain('my own thought');
    const sent = await lead.ok('send_to_worker', { worker_id: 'w01', message: 'say it again' });
    const held = await rig.event(
      'the hold',
      ({ type, data }) =>
        type === 'message.held' && (data as { message_id?: string }).message_id === sent['message_id'],
    );
    expect(held.data).toMatchObject({ reason: 'human_draft' });
    me.press('w01', 'C-u');
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'said again' });
    expect(rig.llm.prompts()).toEqual([expect.stringContaining('make it'), 'say it again']);
    // Nothing of it stays, in its home neither.
    expect(existsSync(join(rig.world.sandbox.home, '.codex/packages'))).toBe(false);
  });

  it('is asked for its report at the end of its turn', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'forget it' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({
      state: 'done',
      summary: 'reported when asked',
    });
  });

  it('shows a turn that failed, and it is told', async () => {
    const lead = await begin();
    await lead.ok('spawn_worker', { task: 'meet a failure' });
    const seen = await lead.ok('wait_for_worker', wait);
    expect(seen).toMatchObject({ state: 'waiting' });
    expect(JSON.stringify(seen)).toContain('no such model');
  });

  it.each([
    [1, 'it is made'],
    [2, 'was not allowed'],
  ])(
    'stops at a permission; the answer of a person, %i, is done through its hook',
    async (choice, summary) => {
      const lead = await begin({ bypass_permissions: false });
      await lead.ok('spawn_worker', { task: 'ask before it' });
      const item = await personAt(rig).item('w01');
      expect(item).toMatchObject({
        kind: 'permission',
        via: 'hook',
        text: expect.stringContaining('git commit'),
      });
      const answer = { worker_id: 'w01', prompt_hash: item.prompt_hash, choice };
      expect((await personAt(rig).answer(answer)).body).toMatchObject({
        answered: true,
        evidence: 'protocol',
      });
      expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary });
    },
  );
});
