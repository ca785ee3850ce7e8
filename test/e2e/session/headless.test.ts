import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { personAt } from '../../support/person.js';
import { SessionRig, SILENT_LEAD } from '../../support/session-rig.js';

let rig: SessionRig;
beforeEach(() => {
  rig = new SessionRig();
});
afterEach(() => rig.close(), 120_000);

const SCRIPT = `${SILENT_LEAD}
workers:
  - name: writes
    contains: write the file
    steps:
      - say: I write it
      - write: made.txt
        content: made without a terminal
      - commit: made
      - report_done: it is made
  - name: waits
    contains: wait for it
    steps:
      - say: before
      - run: 'until test -e {{cwd}}/../go; do sleep 0.1; done'
      - write: late.txt
        content: late
      - commit: late
      - report_done: it came late
  - name: asks
    contains: ask me
    steps: [{ ask_lead: red or blue? }, { end: true }]
  - name: answered
    after: asks
    steps: [{ write: colour.txt, content: '{{prompt}}' }, { commit: colour }, { report_done: painted }]
  - name: forgets
    contains: say nothing
    steps: [{ end: true }]
  - name: reminded
    contains: ended your turn without a report
    steps: [{ write: r.txt, content: r }, { commit: r }, { report_done: reminded }]
  - name: permission
    contains: may I
    steps:
      - permission: rm -rf build
      - write: p.txt
        content: p
      - commit: p
      - report_done: allowed
  - name: dies
    contains: die
    steps: [{ say: about to }, { crash: 7 }]
`;

const run = (worker = 'w01') => rig.store.runs(rig.sessionId, worker).at(-1);

describe.each(['stream-json', 'thread-jsonl'])('a worker without a terminal (%s)', (format) => {
  const start = (more: object = {}) => rig.start(SCRIPT, { worker_backend: 'headless', ...more }, { format });
  const wait = { worker_id: 'w01', timeout_s: 60 };

  it('does its work in its worktree, shows in a pane what it says, and its branch is integrated', async () => {
    await start();
    const lead = await rig.lead();
    const spawned = await lead.ok('spawn_worker', { task: 'write the file' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'it is made' });
    expect(await lead.ok('integrate_worker', { worker_id: 'w01' })).toMatchObject({ merged: true });
    await expect.poll(() => rig.screen('w01'), { timeout: 20_000 }).toContain('I write it');
    const { output } = await lead.ok('read_worker_output', { worker_id: 'w01', tail_lines: 20 });
    expect(String(output)).toContain('I write it');
    expect(rig.store.worker(rig.sessionId, 'w01')).toMatchObject({ backend: 'headless' });
    expect(String(spawned['worktree'])).toContain('implementer-w01');
  });

  it('asks, is answered with a message, and goes on in its conversation', async () => {
    await start();
    const lead = await rig.lead();
    await lead.ok('spawn_worker', { task: 'ask me' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'waiting' });
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'blue' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'painted' });
  });

  it('that ends its turn without a report is asked for one', async () => {
    await start();
    const lead = await rig.lead();
    await lead.ok('spawn_worker', { task: 'say nothing' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'reminded' });
  });

  it('goes on while its supervisor is dead, and nothing of what it said is lost or told twice', async () => {
    await start();
    const lead = await rig.lead();
    const { worktree } = await lead.ok('spawn_worker', { task: 'wait for it' });
    await rig.event('its word', ({ type }) => type === 'text.completed');
    await rig.crash();
    execFileSync('touch', [join(String(worktree), '..', 'go')]);
    await rig.takeUp();
    const again = await rig.lead();
    expect(await again.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'it came late' });
    const said = rig.events().flatMap(({ type, data }) => (type === 'text.completed' ? [data.text] : []));
    expect(said).toEqual(['before']);
    expect(rig.types('w01').filter((type) => type === 'run.started')).toHaveLength(1);
  });

  it('that dies is told to the lead, and comes back with the next message', async () => {
    await start();
    const lead = await rig.lead();
    await lead.ok('spawn_worker', { task: 'die' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'exited' });
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'write the file' });
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'it is made' });
  });

  it('is killed with everything it started, at once', async () => {
    await start();
    const lead = await rig.lead();
    await lead.ok('spawn_worker', { task: 'wait for it' });
    await rig.event('its word', ({ type }) => type === 'text.completed');
    expect(await lead.ok('kill_worker', { worker_id: 'w01' })).toMatchObject({ killed: true });
    expect(run()).toMatchObject({ state: 'cancelled' });
    expect(rig.store.worker(rig.sessionId, 'w01')).toMatchObject({ state: 'exited' });
  });
});

describe('permission without a terminal', () => {
  it('is asked through the hook, and what a person answers is done', async () => {
    await rig.start(SCRIPT, { worker_backend: 'headless' });
    const lead = await rig.lead();
    await lead.ok('spawn_worker', { task: 'may I' });
    const me = personAt(rig);
    const item = await me.item('w01');
    expect(item).toMatchObject({ kind: 'permission', text: expect.stringContaining('rm -rf build') });
    await me.answer({ worker_id: 'w01', choice: 1, prompt_hash: item.prompt_hash });
    const wait = { worker_id: 'w01', timeout_s: 60 };
    expect(await lead.ok('wait_for_worker', wait)).toMatchObject({ state: 'done', summary: 'allowed' });
  });

  it('is refused where the agent cannot ask, and said to be', async () => {
    await rig.start(SCRIPT, { worker_backend: 'headless' }, { format: 'thread-jsonl' });
    const lead = await rig.lead();
    await lead.ok('spawn_worker', { task: 'may I' });
    const refusal = await rig.event('the refusal', ({ type }) => type === 'permission.denied');
    expect(refusal.data).toMatchObject({ text: 'rm -rf build' });
  });
});
