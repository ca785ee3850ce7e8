import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { AttentionItem } from '../../../src/services/supervise/attention.js';
import { personAt, type Person } from '../../support/person.js';
import { SessionRig, SILENT_LEAD, type McpCaller } from '../../support/session-rig.js';

const WORKERS = `
workers:
  - name: gate
    contains: needs permission
    steps:
      - permission: may I run rm?
        save: allowed
        go_on: true
      - report_blocked: 'permission was {{allowed}}'
  - name: twice
    contains: needs it twice
    steps:
      - permission: first
      - permission: second
      - report_blocked: both were given
  - name: asks
    contains: ask me
    steps: [{ ask_lead: red or blue? }, { end: true }]
  - name: answered
    after: asks
    steps: [{ report_blocked: 'told {{prompt}}' }]
  - name: login
    contains: logged out
    steps: [{ notify: please log in, kind: login }, { silence: true }]
  - contains: another message
    steps: [{ report_blocked: got the message }]
`;

let rig: SessionRig;
let lead: McpCaller;
let me: Person;

async function begin(settings: string, plan: Parameters<SessionRig['start']>[1] = {}): Promise<void> {
  rig = new SessionRig();
  await rig.start(`${settings}${SILENT_LEAD}${WORKERS}`, { limits: { max_workers: 20 }, ...plan });
  lead = await rig.lead();
  me = personAt(rig);
}
const spawn = async (task: string) =>
  String((await lead.ok('spawn_worker', { task, perspective: 'implementer' }))['worker_id']);
const wait = (worker_id: string) => lead.ok('wait_for_worker', { worker_id, timeout_s: 60 });
const answered = (worker: string) => me.answered(worker);

describe('permission through the hook', () => {
  beforeAll(() => begin(''), 180_000);
  afterAll(() => rig.close(), 60_000);
  afterEach(async () => {
    for (const worker of rig.store.workers(rig.sessionId))
      if (worker.role === 'worker' && worker.state !== 'exited')
        await lead.ok('kill_worker', { worker_id: worker.worker_id });
  });

  it('[C-19] waits for the person, whom everything tells of it, and is answered without a key', async () => {
    const id = await spawn('needs permission');
    const item = await me.item(id);
    expect(item).toMatchObject({
      ...{ worker_id: id, kind: 'permission', text: 'may I run rm?', via: 'hook' },
      choices: [
        { number: 1, label: 'Yes' },
        { number: 2, label: 'No' },
      ],
    });
    expect(await wait(id)).toMatchObject({
      state: 'waiting',
      waiting: { kind: 'permission', text: 'may I run rm?' },
    });
    await rig.event('status line', () =>
      me.tmux('show-options', '-v', '@ao_status').startsWith(`1 waiting: ${id} permission`),
    );
    expect(await me.answer({ worker_id: id, prompt_hash: item.prompt_hash, choice: 1 })).toEqual({
      status: 200,
      body: { answered: true, worker_id: id, evidence: 'protocol', message_id: null },
    });
    expect(await wait(id)).toMatchObject({ state: 'blocked', summary: 'permission was yes' });
    expect(answered(id)).toEqual([{ answer: 'Yes', by: 'person', source: 'hook', evidence: 'protocol' }]);
    expect(await me.items()).toEqual([]);
  });

  it('takes a refusal with a word to the agent', async () => {
    const id = await spawn('needs permission');
    const { prompt_hash } = await me.item(id);
    await me.answer({ worker_id: id, prompt_hash, choice: 2, message: 'use trash-cli instead' });
    expect(await wait(id)).toMatchObject({ summary: 'permission was no' });
    expect(String((await lead.ok('read_worker_output', { worker_id: id }))['output'])).toContain(
      'told: use trash-cli instead',
    );
  });

  it('is decided in the pane as well, whoever comes first, and never twice', async () => {
    const id = await spawn('needs it twice');
    const { prompt_hash: first } = await me.item(id, 'first');
    await expect.poll(() => me.screen(id), { timeout: 60_000 }).toContain('1 yes · 2 no');
    // Seen by the watcher too, so that its going away means something.
    await new Promise((resolve) => setTimeout(resolve, 400));
    me.press(id, '1');
    const { prompt_hash: second } = await me.item(id, 'second');
    expect(await me.answer({ worker_id: id, prompt_hash: first, choice: 1 })).toMatchObject({
      status: 409,
      body: { title: 'PROMPT_CHANGED', hint: expect.stringContaining(String(second)) },
    });
    expect(rig.store.worker(rig.sessionId, id)?.state).toBe('waiting');
    await me.answer({ worker_id: id, prompt_hash: second, choice: 1 });
    expect(await wait(id)).toMatchObject({ summary: 'both were given' });
    expect(answered(id).map(({ answer }) => answer)).toEqual(['given at the agent', 'Yes']);
  });

  it('[C-10] gets no key of a message, however long it stands', async () => {
    const id = await spawn('needs permission');
    const { prompt_hash } = await me.item(id);
    const sent = await lead.ok('send_to_worker', { worker_id: id, message: 'another message' });
    const messageId = sent['message_id'];
    const state = () => rig.store.message(String(messageId))?.state;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect([state(), answered(id)]).toEqual(['queued', []]);
    expect((await me.item(id)).prompt_hash).toBe(prompt_hash);
    await me.answer({ worker_id: id, prompt_hash, choice: 2 });
    expect(await wait(id)).toMatchObject({ state: 'blocked' });
  });

  it('lets the person answer what a worker asked the lead', async () => {
    const id = await spawn('ask me');
    const item = await me.item(id);
    expect(item).toMatchObject({ kind: 'question', text: 'red or blue?', choices: [], via: 'tool' });
    const { body } = await me.answer({ worker_id: id, prompt_hash: item.prompt_hash, text: 'blue' });
    expect(body).toMatchObject({ answered: true, message_id: expect.any(String) });
    expect((await wait(id))['summary']).toContain('told');
    expect(rig.store.message(String(body['message_id']))).toMatchObject({ text: 'blue', sender: 'cli' });
  });

  it('[C-19] shows a login that only a person can do, with nothing to choose', async () => {
    const id = await spawn('logged out');
    expect(await me.item(id)).toMatchObject({
      kind: 'login',
      text: 'please log in',
      choices: [],
      prompt_hash: null,
    });
  });

  it('is not for the lead, who is not even offered it', async () => {
    const { tools } = await lead.client.listTools();
    expect(tools.filter(({ name }) => /attention|answer/.test(name))).toEqual([]);
    expect(await lead.code('answer_worker', { worker_id: 'w01', prompt_hash: 'x', choice: 1 })).toBe(
      'LEAD_MAY_NOT_ANSWER',
    );
  });
});

describe('an agent that has no hooks and asks for trust first', () => {
  beforeAll(
    () =>
      begin('settings: { hooks: false, trust_dialog: true, dialog_deaf_ms: 500 }\n', {
        lead_may_answer: true,
      }),
    180_000,
  );
  afterAll(() => rig.close(), 60_000);

  it('[C-19] has its trust dialog answered once, since the user trusted the project, and nobody is bothered', async () => {
    const id = await spawn('needs permission');
    for (const worker of ['lead', id]) {
      await rig.event('ready', (event) => event.type === 'worker.ready' && event.worker_id === worker);
      expect(answered(worker)[0]).toEqual({
        answer: 'Yes, I trust this folder',
        by: 'agreed to beforehand: trust in the project',
        source: 'tmux',
        evidence: 'screen',
      });
    }
    expect(
      rig.events().filter((event) => event.type === 'worker.waiting' && event.data.kind === 'trust'),
    ).toEqual([]);
  });

  it('is answered by one proven key, here by the lead, which the user allowed', async () => {
    const id = 'w01';
    await me.item(id);
    const { items } = (await lead.ok('list_attention')) as unknown as { items: AttentionItem[] };
    expect(items).toMatchObject([{ worker_id: id, kind: 'permission', via: 'screen' }]);
    expect(items[0]?.text).toContain('may I run rm?');
    const prompt_hash = items[0]?.prompt_hash;
    expect(await lead.ok('answer_worker', { worker_id: id, prompt_hash, choice: 1 })).toMatchObject({
      answered: true,
      evidence: 'screen',
    });
    expect(await wait(id)).toMatchObject({ summary: 'permission was yes' });
    expect(answered(id).at(-1)).toEqual({ answer: 'Yes', by: 'lead', source: 'tmux', evidence: 'screen' });
  });
});
