import { afterEach, beforeEach, expect, it } from 'vitest';
import { openPty } from './pty.js';
import { CliRig, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

async function onTerminal(endShown: number) {
  const env = { AGENTORCHESTR_TMUX_END_SHOWN_S: String(endShown) };
  const args = ['--goal', 'x', '--yes', '--verify', 'true', ...rig.playing(SILENT_LEAD)];
  const pty = openPty(rig, args, { env });
  await pty.shows(/working · esc to interrupt/);
  const [session] = rig.look((store) => store.sessions(1));
  return { pty, sessionId: session?.session_id ?? '' };
}

async function listed(): Promise<unknown> {
  const { stdout } = await rig.run(['--list-sessions', '--json']);
  return (JSON.parse(stdout) as { sessions: unknown[] }).sessions[0];
}

it('[35] a key in the panes pauses the session; untouched, the terminal then has the summary, and exit 2', async () => {
  const { pty, sessionId } = await onTerminal(1);
  await pty.shows(/Ctrl-b P pauses · Ctrl-b d leaves/);
  pty.keys('C-b', 'P');
  await pty.shows(new RegExp(`pause session ${sessionId}\\? .*\\(y/n\\)`));
  pty.keys('y');
  expect(await pty.ended()).toBe(2);
  expect(pty.screen()).toMatch(new RegExp(`session ${sessionId} {2}paused\n {2}paused by the person`));
  expect(await listed()).toMatchObject({ session_id: sessionId, state: 'paused', resumable: true });

  // Its supervisor is gone; nothing is left to end.
  expect((await rig.run(['stop', sessionId])).stdout).toBe(`session ${sessionId} is failed\n`);
  expect(await listed()).toMatchObject({ state: 'failed', resumable: true });
});

it('stop ends a session as failed, says why, and does not wait for those who read its end', async () => {
  const { pty, sessionId } = await onTerminal(3_600);
  const stopped = await rig.run(['stop', sessionId.slice(0, 6), '--reason', 'wrong goal', '--json']);
  expect(stopped.code).toBe(0);
  expect(JSON.parse(stopped.stdout)).toEqual({ session_id: sessionId, state: 'failed' });
  await pty.shows(/failed · stopped: wrong goal .*leaves in 3600 s · Enter: now/);
  expect(pty.screen()).toContain('lead scripted · exited');
  expect(pty.screen()).toContain('> [Pasted text');
  pty.keys('Enter');
  expect(await pty.ended()).toBe(2);
  expect(pty.screen()).toMatch(new RegExp(`session ${sessionId} {2}failed\n {2}stopped: wrong goal`));
  expect(await listed()).toMatchObject({ session_id: sessionId, state: 'failed', resumable: true });

  const again = await rig.run(['stop', sessionId]);
  expect(again.code).toBe(1);
  expect(again.stderr).toContain(`session ${sessionId} has ended (failed)`);
});
