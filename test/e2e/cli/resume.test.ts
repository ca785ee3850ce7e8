import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.js';
import { openStore } from '../../../src/store/open-store.js';
import { sampleEvent } from '../../support/sample-events.js';
import { CliRig, DONE_LEAD, FAILED_LEAD, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

/** A lead that goes on once it is told that its supervisor is another one. */
const PATIENT_LEAD = `lead:
  - match: 'the supervisor was restarted|Nothing of the session is lost'
    steps:
      - call: verify
        until: { state: passed }
      - call: mark_goal_done
        with: { summary: went on after the restart }
  - match: '^# Goal$'
    times: 1
    steps: [{ say: I wait }, { end: true }]
  - steps: [{ end: true }]
`;

async function begin(script: string): Promise<string> {
  const args = ['--goal', 'a goal', '--yes', '--no-attach', '--verify', 'true'];
  const started = rig.start([...args, ...rig.playing(script)]);
  const [, sessionId = ''] = await started.says(/session ([0-9a-f]{8}) runs/);
  return sessionId;
}

/** Its viewer has left by then, too. */
async function crashed(script: string): Promise<string> {
  const args = ['--goal', 'a goal', '--yes', '--no-attach', '--verify', 'true'];
  const started = rig.start([...args, ...rig.playing(script)]);
  const [, sessionId = ''] = await started.says(/session ([0-9a-f]{8}) runs/);
  process.kill(rig.control(sessionId).pid, 'SIGKILL');
  const { stderr } = await started.finished;
  expect(stderr).toContain(`Go on with it: agentorchestr --resume ${sessionId}`);
  return sessionId;
}

const stateOf = async (sessionId: string) =>
  (JSON.parse((await rig.run(['status', sessionId, '--json'])).stdout) as { state: string }).state;

describe('--resume', () => {
  it('[62] takes up a session whose supervisor was killed, and follows it to its end', async () => {
    const sessionId = await crashed(PATIENT_LEAD);
    expect(await stateOf(sessionId)).toBe('crashed');
    const { code, stdout, stderr } = await rig.run(['--resume', sessionId.slice(0, 5), '--json']);
    expect(stderr).toContain(`session ${sessionId} is taken up again`);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      session_id: sessionId,
      state: 'done',
      summary: 'went on after the restart',
    });
  });

  it('a session that was taken up is active again, and a live one is watched like any other', async () => {
    const sessionId = await crashed(SILENT_LEAD);
    const first = rig.start(['--resume', sessionId, '--no-attach']);
    await first.says(/session [0-9a-f]{8} runs; Ctrl-C pauses it/);
    expect(await stateOf(sessionId)).toBe('active');
    expect((await rig.run(['--list-sessions'])).stdout).toContain(`${sessionId}  active`);
    const second = rig.start(['--resume', sessionId, '--no-attach', '--kill-tmux']);
    await second.says(/session [0-9a-f]{8} runs; Ctrl-C pauses it/);
    expect(second.stderr()).toContain('--kill-tmux is not used: the session runs already');
    expect(second.stderr()).not.toContain('taken up');
    second.child.kill('SIGINT');
    expect((await second.finished).code).toBe(2);
    expect((await first.finished).code).toBe(2);

    const again = rig.start(['--resume', sessionId, '--no-attach']);
    await again.says(/session [0-9a-f]{8} runs; Ctrl-C pauses it/);
    expect(again.stderr()).toContain(`session ${sessionId} is taken up again`);
    expect(await stateOf(sessionId)).toBe('active');
    again.child.kill('SIGINT');
    expect((await again.finished).code).toBe(2);
    expect(await stateOf(sessionId)).toBe('paused');
  });

  it('of a session that is over says what it came to, with the exit code of that', async () => {
    const sessionId = await begin(DONE_LEAD);
    await rig.run(['log', '-f', sessionId]);
    const done = await rig.run(['--resume', sessionId]);
    expect([done.code, done.stderr]).toEqual([
      0,
      `session ${sessionId} is over; there is nothing to take up\n`,
    ]);
    expect(done.stdout).toContain(`session ${sessionId}  done`);
    const failed = await begin(FAILED_LEAD);
    await rig.run(['log', '-f', failed]);
    const again = await rig.run(['--resume', failed, '--json']);
    expect(again.code).toBe(2);
    expect(JSON.parse(again.stdout)).toMatchObject({ state: 'failed', summary: 'it cannot be done' });
  });

  it('of a session that nobody knows, or whose name fits several, exits 1 and names them', async () => {
    const ids = ['aaaa0001', 'aaaa0002'];
    mkdirSync(dirname(rig.paths.database), { recursive: true });
    const store = openStore({ path: rig.paths.database, clock: systemClock });
    for (const session_id of ids) store.append(sampleEvent('session.created', {}, { session_id }));
    store.close();
    expect(await rig.run(['--resume', 'zzzz'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('error: no session "zzzz"') as string,
    });
    expect(await rig.run(['--resume', 'aaaa'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('more than one session: aaaa0001, aaaa0002') as string,
    });
    expect(await rig.run(['--resume', 'aaaa0001'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(
        'session aaaa0001 cannot be taken up again: what it was started with is not known',
      ) as string,
    });
  });

  it('[62] of a session whose panes are gone, too, starts its lead again', async () => {
    const sessionId = await crashed(PATIENT_LEAD);
    await rig.killServerOf(sessionId);
    const { code, stdout, stderr } = await rig.run(['--resume', sessionId, '--json']);
    expect(stderr).toContain(`session ${sessionId} is taken up again`);
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ state: 'done', summary: 'went on after the restart' });
  });
});
