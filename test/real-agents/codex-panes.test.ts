import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bash, call, killsItself, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { personAt, type Person } from '../support/person.js';
import { RealRig } from '../support/real-agents/rig.js';
import type { McpCaller } from '../support/session-rig.js';

let rig: RealRig;
let lead: McpCaller;
let me: Person;
afterEach(() => rig.close(), 120_000);

const COMMIT = 'echo made > made.txt && git add -A && git commit -qm made';
const wait = { worker_id: 'w01', timeout_s: 90 };
const REFUSED = /reject|denied|declin|refus|not allow|not approve|abort|hook/i;

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
    const summary = REFUSED.test(results[0]?.text ?? '') ? 'was not allowed' : 'it is made';
    yield call('report_done', { summary });
    yield call('report_done', { summary });
    yield say('Done.');
  }),
  program('helped', says('have it made'), function* () {
    const { results } = yield call('spawn_agent', { message: 'I am the helper', task_name: 'helper' });
    yield call('wait_agent', { targets: [results[0]?.['agent_id']], timeout_ms: 20_000 });
    yield bash(COMMIT);
    yield call('report_done', { summary: 'it was made for me' });
    yield say('Done.');
  }),
  program('quotes', says('quote it'), function* () {
    yield call('report_done', { summary: 'quoted' });
    yield call('report_done', { summary: 'quoted' });
    yield say('Working (4s • esc to interrupt)');
  }),
  program('dies', says('die of it'), function* () {
    yield bash(COMMIT);
    yield killsItself();
    yield say('I live.');
  }),
  {
    name: 'broken',
    when: says('meet a failure'),
    steps: [
      call('exec_command', { cmd: 'echo half done' }),
      { fail: { status: 400, message: 'no such model' } },
    ],
  },
  {
    name: 'exhausted',
    when: says('use up the limit'),
    steps: [{ fail: { status: 400, message: 'You have hit your usage limit.' } }],
  },
  { name: 'endless', when: says('never end'), steps: [{ until: new Promise(() => undefined) }] },
];

async function begin(task: string, plan: object = {}): Promise<void> {
  rig = await RealRig.create({ rules: RULES });
  lead = await rig.startWorkersOf('codex', plan);
  me = personAt(rig);
  await lead.ok('spawn_worker', { task });
}
const ended = () => lead.ok('wait_for_worker', wait);
const seen = (pattern: RegExp) => expect.poll(() => me.screen('w01'), { timeout: 20_000 }).toMatch(pattern);
const moment = () => new Promise((resolve) => setTimeout(resolve, 1_000));

describe('Codex in a pane', () => {
  it('does its work and takes what follows; nothing of it stays', async () => {
    await begin('make it');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'it is made' });
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'say it again' });
    expect(await ended()).toMatchObject({ state: 'done', summary: 'said again' });
    expect(rig.llm.prompts()).toEqual([expect.stringContaining('make it'), 'say it again']);
    // Neither a copy of it nor, as the rig proves when it closes, a server of its own.
    expect(existsSync(join(rig.world.sandbox.home, '.codex/packages'))).toBe(false);
  });

  it('is asked for its report at the end of its turn', async () => {
    await begin('forget it');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'reported when asked' });
  });

  it('is followed by its own hooks: prompts and ends of its titles and helpers are none of its own', async () => {
    await begin('have it made');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'it was made for me' });
    expect(rig.llm.prompts().some((prompt) => prompt.includes('I am the helper'))).toBe(true);
    const steered = rig.types('w01').filter((type) => type === 'message.submitted');
    expect(steered).toHaveLength(1);
    expect(rig.types('w01').filter((type) => type === 'thread.opened')).toHaveLength(1);
    const { thread_id: thread, transcript_path: path } = rig.store.worker(rig.sessionId, 'w01') ?? {};
    expect(path).toContain(thread ?? 'no thread');
    expect(readFileSync(path ?? '', 'utf8')).toContain('have it made');
  });

  it('that quotes its own status is not at work for ever', async () => {
    await begin('quote it');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'quoted' });
    await seen(/Working \(4s • esc to interrupt\)[^]*Worked for/);
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'make it now' });
    expect(await ended()).toMatchObject({ state: 'done' });
  });
});

describe('a turn of Codex that fails', () => {
  it('in its middle is told with its words, and what follows is taken', async () => {
    await begin('meet a failure');
    const failed = await ended();
    expect(failed).toMatchObject({ state: 'waiting' });
    expect(JSON.stringify(failed)).toContain('no such model');
    expect(rig.events().find(({ type }) => type === 'run.waiting')?.data).toMatchObject({
      kind: 'report',
      text: expect.stringMatching(/^■ [^›]*no such model[^›]*$/),
    });
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'make it instead' });
    expect(await ended()).toMatchObject({ state: 'done', summary: 'it is made' });
  });

  it('for want of quota waits for a person', async () => {
    await begin('use up the limit');
    expect(await me.item('w01')).toMatchObject({ kind: 'quota' });
  });

  it('because a person interrupted it is over, and no failure', async () => {
    await begin('never end');
    await rig.llm.request(({ rule }) => rule === 'endless');
    await seen(/esc to interrupt/);
    me.press('w01', 'Escape');
    await seen(/Conversation interrupted/);
    expect(await ended()).toMatchObject({ state: 'waiting' });
    // It was asked for its report once, and gave none.
    expect(JSON.stringify(rig.events())).not.toMatch(/■ Conversation/);
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'make it instead' });
    expect(await ended()).toMatchObject({ state: 'done', summary: 'it is made' });
  });

  it('because it died is told, and its work is there', async () => {
    await begin('die of it');
    expect(await ended()).toMatchObject({ state: 'exited' });
    expect(rig.store.worker(rig.sessionId, 'w01')).toMatchObject({ state: 'exited' });
    const branch = rig.store.worker(rig.sessionId, 'w01')?.branch ?? '';
    expect(rig.repo.git('show', `${branch}:made.txt`)).toBe('made');
  });
});

describe('a permission of Codex', () => {
  it.each([
    [1, 'it is made'],
    [2, 'was not allowed'],
  ])('is answered by a person, %i, through its hook', async (choice, summary) => {
    await begin('ask before it', { bypass_permissions: false });
    const item = await me.item('w01');
    expect(item).toMatchObject({
      kind: 'permission',
      via: 'hook',
      text: expect.stringContaining('git commit'),
    });
    const answer = { worker_id: 'w01', prompt_hash: item.prompt_hash, choice };
    expect((await me.answer(answer)).body).toMatchObject({ answered: true, evidence: 'protocol' });
    expect(await ended()).toMatchObject({ state: 'done', summary });
  });

  it('[C-10] gets no key of a message, however long it stands; the message comes after it', async () => {
    await begin('ask before it', { bypass_permissions: false });
    const item = await me.item('w01');
    const message = await lead.ok('send_to_worker', { worker_id: 'w01', message: 'and the same again' });
    const receipt = () =>
      rig
        .events()
        .filter(({ data }) => (data as { message_id?: string }).message_id === message['message_id'])
        .map(({ type }) => type);
    await moment();
    expect(receipt()).not.toContain('message.typed');
    await me.answer({ worker_id: 'w01', prompt_hash: item.prompt_hash, choice: 1 });
    await rig.event('the message', () => receipt().includes('message.submitted'));
    await rig.llm.request(({ exchange }) => exchange?.prompt === 'and the same again');
    expect(rig.llm.prompts()).toHaveLength(2);
  });

  it.each([
    [1, 'it is made'],
    [3, 'was not allowed'],
  ])(
    'is a dialog on its screen after the supervisor was killed with -9, and is answered there, %i, by proven keys',
    async (choice, summary) => {
      await begin('ask before it', { bypass_permissions: false });
      await me.item('w01');
      await rig.crash();
      await seen(/Would you like to run the following command/);
      await rig.takeUp();
      const item = await me.item('w01', 'Would you like');
      expect(item).toMatchObject({ kind: 'permission', via: 'screen' });
      const answer = { worker_id: 'w01', prompt_hash: item.prompt_hash, choice };
      expect((await me.answer(answer)).body).toMatchObject({ answered: true, evidence: 'screen' });
      lead = await rig.lead();
      expect(await ended()).toMatchObject({ state: 'done', summary });
      // To refuse it on its screen ends its turn: it is asked for its report.
      expect(rig.llm.prompts()).toHaveLength(choice === 1 ? 1 : 2);
    },
  );
});
