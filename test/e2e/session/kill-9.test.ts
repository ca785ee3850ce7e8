import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { isSameProcessAlive } from '../../../src/platform/identity.js';
import { SessionRig } from '../../support/session-rig.js';

let rig: SessionRig;
beforeEach(() => {
  rig = new SessionRig();
});
afterEach(() => rig.close(), 120_000);

/** Two workers, a question, a follow-up, a flag: most of what a session does, and a lead that asks again. */
const SCRIPT = `
settings: { mcp_patience_ms: 120000 }
lead:
  - name: goal
    match: '^# Goal$'
    times: 1
    steps:
      - call: spawn_worker
        with: { task: write one }
        save: one
      - call: spawn_worker
        with: { task: write two }
        save: two
      - call: wait_for_worker
        with: { worker_id: w01 }
        until: { state: waiting }
      - call: send_to_worker
        with: { worker_id: w01, message: make it blue, idempotency_key: colour }
      - call: wait_for_worker
        with: { worker_ids: [w01, w02], mode: all }
        while: { ask_again: true }
      - call: integrate_worker
        with: { worker_id: w01 }
        expect: { merged: true }
      - call: integrate_worker
        with: { worker_id: w02 }
        expect: { merged: true }
      - call: report_progress
        with: { message: both are in }
      - call: verify
        until: { state: passed }
      - call: mark_goal_done
        with: { summary: one and two }
  - name: news
    contains: News from your workers
    steps: [{ end: true }]
workers:
  - name: one
    contains: write one
    times: 1
    steps:
      - ask_lead: which colour?
      - end: true
  - name: coloured
    contains: make it blue
    times: 1
    steps:
      - write: one.txt
        content: blue
      - commit: one
      - report_done: one is blue
  - name: two
    contains: write two
    times: 1
    steps:
      - write: two.txt
        content: two
      - commit: two
      - flag: done
        summary: two is there
      - end: true
`;

/** At least these are met; which others are depends on who is quicker. */
const KINDS = [
  ...['supervisor.started', 'supervisor.recovered', 'progress.reported lead', 'verify.started', 'goal.done'],
  ...['worker.created', 'run.started', 'worker.started', 'message.typed', 'message.submitted'].flatMap(
    (type) => [`${type} lead`, `${type} worker`],
  ),
  ...['branch.created', 'question.asked', 'run.reported', 'run.succeeded', 'branch.integrated'].map(
    (type) => `${type} worker`,
  ),
  ...['run.succeeded lead', 'worker.exited lead'],
];

const NEWS = 'news';

function firstWords(prompt: string): string {
  if (prompt.startsWith('[agentorchestr] News')) return NEWS;
  return /^# (Goal|Task)$/m.exec(prompt)?.[0] ?? prompt;
}

/** What the agent itself says it was given: its own transcript, which nobody of ours writes. */
function promptsOf(workerId: string): string[] {
  const folder = join(rig.directory, 'workers', workerId, 'conversations');
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jsonl'))
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').trim().split('\n'))
    .map((line) => JSON.parse(line) as { type: string; message: { content: string } })
    .filter(({ type }) => type === 'user')
    .map(({ message }) => message.content);
}

/** Kills whoever owns the session at the first event of each kind, for the lead and for a worker. */
function killer(): { killed: string[]; lastWords: string[]; stop(): void } {
  const killed: string[] = [];
  const lastWords: string[] = [];
  let hasLead = false;
  const stop = rig.store.subscribe(0, (event) => {
    if (event.seq === null || event.session_id !== rig.sessionId) return;
    const role = event.worker_id === undefined ? '' : event.worker_id === 'lead' ? ' lead' : ' worker';
    const kind = `${event.type}${role}`;
    hasLead ||= kind === 'worker.created lead';
    if (!hasLead || killed.includes(kind) || event.type === 'session.ended') return;
    const owner = rig.store.lease(rig.sessionId);
    // Written in the last moment of one that was killed for the event before.
    if (owner === null || !isSameProcessAlive(owner)) return void lastWords.push(kind);
    killed.push(kind);
    process.kill(owner.pid, 'SIGKILL');
  });
  return { killed, lastWords, stop };
}

async function ownerGone(): Promise<void> {
  const deadline = Date.now() + 40_000;
  for (;;) {
    const owner = rig.store.lease(rig.sessionId);
    if (owner === null || !isSameProcessAlive(owner)) return;
    if (Date.now() > deadline) {
      const tail = rig
        .events()
        .slice(-20)
        .map(({ type, worker_id: id, data }) => `${type} ${id ?? ''} ${JSON.stringify(data).slice(0, 200)}`);
      throw new Error(`the session neither ended nor lost its supervisor:\n${tail.join('\n')}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

const wasKilled = (error: unknown) => {
  if (!(error instanceof Error) || !error.message.includes('SIGKILL')) throw error;
};

describe('kill -9 of the supervisor', () => {
  it('[62] at the first event of every kind: taken up each time, the session ends done with all its work, nothing lost and nothing sent twice', async () => {
    const { killed, lastWords, stop } = killer();
    const verify = { label: 'test', command: 'test -f one.txt -a -f two.txt', source: '--verify' };
    await rig.start(SCRIPT, { verify_commands: [verify] }).catch(wasKilled);
    for (let round = 0; ; round++) {
      await ownerGone();
      if (rig.store.session(rig.sessionId)?.state !== 'active') break;
      expect(round).toBeLessThan(100);
      await rig.takeUp().catch(wasKilled);
    }
    stop();
    expect([...killed, ...lastWords]).toEqual(expect.arrayContaining(KINDS));
    expect(KINDS.filter((kind) => !killed.includes(kind)).length).toBeLessThan(4);
    expect(rig.store.session(rig.sessionId)).toMatchObject({ state: 'done', summary: 'one and two' });
    expect(
      rig.store.runs(rig.sessionId).map(({ worker_id, number, state }) => [worker_id, number, state]),
    ).toEqual([
      ['lead', 1, 'succeeded'],
      ['w01', 1, 'succeeded'],
      ['w02', 1, 'succeeded'],
    ]);
    const branch = `agentorchestr/${rig.sessionId}/integration`;
    const tree = rig.repo.git('ls-tree', '--name-only', branch).split('\n');
    expect(tree).toEqual(['a.txt', 'one.txt', 'src', 'two.txt']);
    expect(rig.store.verifications(rig.sessionId).at(-1)?.state).toBe('passed');
    const given = ['lead', 'w01', 'w02'].flatMap((id) => promptsOf(id).map((text) => [id, firstWords(text)]));
    expect(given.filter(([, text]) => text !== NEWS)).toEqual([
      ['lead', '# Goal'],
      ['w01', '# Task'],
      ['w01', 'make it blue'],
      ['w02', '# Task'],
    ]);
    const messages = ['lead', 'w01', 'w02'].flatMap((id) => rig.store.messages(rig.sessionId, id));
    const unsettled = messages.filter(
      ({ state }) => !['answered', 'started', 'submitted', 'refused'].includes(state),
    );
    expect(unsettled).toEqual([]);
    expect(rig.world.sandbox.processes().filter(({ command }) => !command.includes('tmux'))).toEqual([]);
  }, 300_000);
});
