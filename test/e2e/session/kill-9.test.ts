import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../../src/core/events/index.js';
import { OrchestratorError } from '../../../src/core/errors/error.js';
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

/** Kills whoever owns the session at the first event of each kind, whenever it is seen; says at which kinds it did. */
function killer(spare: (event: StoredEvent) => boolean): { killed: string[]; stop(): void } {
  const killed: string[] = [];
  const stop = rig.store.subscribe(0, (event) => {
    if (event.seq === null || event.session_id !== rig.sessionId || spare(event)) return;
    const kind = `${event.type} ${event.worker_id ?? ''}`.trim();
    if (killed.includes(kind)) return;
    const owner = rig.store.lease(rig.sessionId);
    if (owner === null || !isSameProcessAlive(owner)) return;
    killed.push(kind);
    process.kill(owner.pid, 'SIGKILL');
  });
  return { killed, stop };
}

async function ownerGone(): Promise<void> {
  const deadline = Date.now() + 30_000;
  for (;;) {
    const owner = rig.store.lease(rig.sessionId);
    if (owner === null || !isSameProcessAlive(owner)) return;
    if (Date.now() > deadline) throw new Error('the session neither ended nor lost its supervisor');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

describe('kill -9 of the supervisor', () => {
  it('[62] at the first event of every kind: taken up each time, the session ends done with all work, nothing lost, nothing sent twice', async () => {
    await rig.start(SCRIPT, { verify_commands: [{ label: 'test', command: 'test -f one.txt -a -f two.txt', source: '--verify' }] });
    const { killed, stop } = killer((event) => event.type === 'session.ended');
    for (let round = 0; ; round++) {
      await ownerGone();
      if (rig.store.session(rig.sessionId)?.state !== 'active') break;
      expect(round).toBeLessThan(120);
      await rig.takeUp().catch((error: unknown) => {
        if (!(error instanceof OrchestratorError || (error as Error).message.includes('supervisor ended'))) throw error;
        process.stderr.write(`${(error as Error).message}\n`);
      });
    }
    stop();
    process.stderr.write(`${killed.length}: ${killed.join(', ')}\n`);
    expect(rig.store.session(rig.sessionId)).toMatchObject({ state: 'done', summary: 'one and two' });
    const branch = `agentorchestr/${rig.sessionId}/integration`;
    expect(rig.repo.git('ls-tree', '--name-only', branch).split('\n')).toEqual(['a.txt', 'one.txt', 'src', 'two.txt']);
    expect(rig.store.verifications(rig.sessionId).at(-1)?.state).toBe('passed');
    expect(promptsOf('w01').filter((text) => text.includes('write one'))).toHaveLength(1);
    expect(promptsOf('w01').filter((text) => text === 'make it blue')).toHaveLength(1);
    expect(promptsOf('w02').filter((text) => text.includes('write two'))).toHaveLength(1);
    expect(promptsOf('lead').filter((text) => text.includes('# Goal'))).toHaveLength(1);
    expect(rig.world.sandbox.processes().filter(({ command }) => !command.includes('tmux'))).toEqual([]);
  }, 300_000);
});
