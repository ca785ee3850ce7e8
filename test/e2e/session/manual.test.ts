import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { SessionRig } from '../../support/session-rig.js';

let rig: SessionRig;
beforeEach(() => {
  rig = new SessionRig();
});
afterEach(() => rig.close(), 120_000);

const SCRIPT = `workers:
  - steps:
      - run: 'until test -e {{cwd}}/../go; do sleep 0.1; done'
      - write: b.txt
        content: "b\\n"
      - commit: Add b
      - flag: done
        summary: b.txt written
`;

it('[111] one that was paused goes on in its own conversation, and ends as it would have', async () => {
  const script = `workers:
  - name: first
    contains: '# Task'
    steps:
      - write: b.txt
        content: "b\\n"
      - silence: true
  - name: second
    contains: go on with the task
    steps:
      - commit: Add b
      - report_done: b.txt written
`;
  await rig.start(script, { mode: 'manual', goal: 'Write b.txt' });
  await rig.event('the turn', ({ type }) => type === 'message.started');
  const { worktree } = rig.store.worker(rig.sessionId, 'w01') ?? {};
  await expect.poll(() => existsSync(join(worktree ?? '', 'b.txt')), { timeout: 20_000 }).toBe(true);
  process.kill(rig.control.pid, 'SIGTERM');
  await rig.event('the pause', ({ type }) => type === 'session.paused');
  await rig.supervisorEnded();
  await rig.takeUp();
  await rig.event('the end', ({ type }) => type === 'session.ended');
  expect(rig.store.session(rig.sessionId)).toMatchObject({ state: 'done', summary: 'b.txt written' });
  expect(rig.store.runs(rig.sessionId, 'w01').map(({ state }) => state)).toEqual([
    'interrupted',
    'succeeded',
  ]);
});

it('[111] a session without a lead outlives its supervisor: what its agent did meanwhile becomes the result', async () => {
  await rig.start(SCRIPT, { mode: 'manual', goal: 'Write b.txt' });
  await rig.event('the turn', ({ type }) => type === 'message.started');
  await rig.crash();
  const { worktree, base_commit: base } = rig.store.worker(rig.sessionId, 'w01') ?? {};
  writeFileSync(join(worktree ?? '', '..', 'go'), '');
  await rig.takeUp();
  await rig.event('the end', ({ type }) => type === 'session.ended');
  const row = rig.store.session(rig.sessionId);
  expect(row).toMatchObject({ state: 'done', summary: 'b.txt written' });
  expect(rig.repo.git('diff', '--name-only', `${base}`, row?.integration_branch ?? '').trim()).toBe('b.txt');
});
