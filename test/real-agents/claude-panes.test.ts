import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bash, call, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { personAt, type Person } from '../support/person.js';
import { ALLOWED, REPORTS } from '../support/real-agents/crew.js';
import { RealRig } from '../support/real-agents/rig.js';
import type { McpCaller } from '../support/session-rig.js';

let rig: RealRig;
let lead: McpCaller;
let me: Person;

const RULES = [
  {
    name: 'failing',
    when: says('run into a failure'),
    steps: [{ fail: { status: 529, message: 'Overloaded' } }],
  },
  REPORTS,
  program('background', says('in the background'), function* () {
    yield bash('sleep 3; echo late', { run_in_background: true });
    yield say('It runs; I wait for it.');
    yield call('report_done', { summary: 'the command has ended' });
    yield call('report_done', { summary: 'the command has ended' });
    yield say('Done.');
  }),
];

beforeAll(async () => {
  rig = await RealRig.create({
    rules: RULES,
    settings: ALLOWED,
    env: { CLAUDE_CODE_MAX_RETRIES: '1' },
  });
  lead = await rig.startWorkersOf('claude', { bypass_permissions: false });
  me = personAt(rig);
  await lead.ok('spawn_worker', { task: 'report first', perspective: 'implementer' });
  await ended();
}, 120_000);
afterAll(() => rig.close(), 120_000);

const send = (message: string) => lead.ok('send_to_worker', { worker_id: 'w01', message });
const ended = () => lead.ok('wait_for_worker', { worker_id: 'w01', timeout_s: 60 });

describe('a working Claude Code', () => {
  it('[C-17] that still runs a command in the background is not done, and is not asked', async () => {
    await send('run it in the background');
    await me.until('its end', () => /still running/.test(me.screen('w01')));
    const run = () => rig.store.runs(rig.sessionId, 'w01').at(-1);
    expect(run()).toMatchObject({ state: 'running', nudges: 0 });
    expect(await ended()).toMatchObject({ state: 'done', summary: 'the command has ended' });
    expect(run()).toMatchObject({ nudges: 0 });
  });
});

describe('several at once', () => {
  it('[62] reviewers of each other both get the name of the other’s branch', async () => {
    await lead.ok('spawn_worker', { task: 'report second', perspective: 'reviewer' });
    const both = { worker_ids: ['w01', 'w02'], timeout_s: 60 };
    await lead.ok('wait_for_worker', both);
    await lead.ok('cross_review', { worker_a: 'w01', worker_b: 'w02', focus: 'naming' });
    await lead.ok('wait_for_worker', both);
    const branch = (worker: string) => rig.store.worker(rig.sessionId, worker)?.branch ?? '?';
    const prompts = rig.llm.prompts().filter((prompt) => prompt.includes('naming'));
    for (const worker of ['w01', 'w02'])
      expect(prompts.some((prompt) => prompt.includes(branch(worker)))).toBe(true);
  });
});

describe('what stands in the way', () => {
  it('[C-9] a suggestion in the composer is no draft', async () => {
    await send('run into a failure');
    await me.until('the suggestion', () => /❯\s+Resend your message/.test(me.screen('w01')));
    const { message_id: id } = await send('report after the failure');
    await me.until('our text', () => rig.receipt(id).includes('submitted'));
    const holds = rig.events().filter(({ type, data }) => type === 'message.held' && 'reason' in data);
    const drafts = holds.filter(({ data }) => (data as { message_id: string }).message_id === id);
    expect(drafts.map(({ data }) => (data as { reason: string }).reason)).not.toContain('human_draft');
    await ended();
  });
});

it('[C-12] in all of that, nothing of ours has pressed Escape at it', () => {
  const asked = JSON.stringify(rig.llm.requests.map(({ body }) => body));
  expect(asked).toContain('report after the failure');
  expect(asked).not.toContain('Request interrupted by user');
});
