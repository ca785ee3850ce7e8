import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attachArguments, killServer } from '../../../../src/backends/tmux/attach.js';
import type { Clock } from '../../../../src/core/clock.js';
import { systemClock } from '../../../../src/platform/clock.js';
import { createSandbox, type Sandbox } from '../../../support/sandbox.js';
import { createTmuxWorld, openTerminal, until, type TmuxWorld } from '../../../support/tmux.js';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(async () => sandbox.close());

const READING_MS = 10_001;

/** The system's clock, but for the time that viewers are given: it is over when the test says so. */
function readingClock(): { clock: Clock; timeIsOver(): void } {
  let over = () => undefined as void;
  const after = (delayMs: number, task: () => void) => {
    if (delayMs !== READING_MS) return systemClock.after(delayMs, task);
    over = task;
    return () => undefined;
  };
  return { clock: { now: () => systemClock.now(), after }, timeIsOver: () => over() };
}

async function openWorld(options: { userConfig?: string } = {}) {
  const { clock, timeIsOver } = readingClock();
  const world = createTmuxWorld(sandbox, { clock, readingMs: READING_MS, ...options });
  await world.backend.open();
  await world.backend.start(world.spec('lead', ['/bin/sh', '-c', 'echo last words; exec sleep 1000']));
  return { world, timeIsOver };
}

const viewing = (world: TmuxWorld) => [
  ...['sh', '-c', 'unset TMUX; "$@"; echo; echo let go; exec sleep 1000', 'sh'],
  ...attachArguments({ socketName: world.socketName, sessionName: `agentorchestr-${world.sessionId}` }),
];

async function openViewer(world: TmuxWorld, command = viewing(world)) {
  const terminal = await openTerminal(sandbox, { columns: 120, rows: 30 }, command);
  const shows = (pattern: RegExp) =>
    until(async () => pattern.test(await terminal.screen()), `a screen with ${pattern}`);
  await shows(/last words/);
  return { ...terminal, shows };
}

/** Whether it resolved, once everything that is under way has been said. */
function watched(promise: Promise<void>) {
  const state = { over: false };
  void promise.then(() => (state.over = true));
  return state;
}

describe('the end of a session', () => {
  test('a viewer who touches nothing is let go in time, Enter leaves at once, any other key stays and reads on', async () => {
    const { world, timeIsOver } = await openWorld();
    const [still, hasty, reader] = [
      await openViewer(world),
      await openViewer(world),
      await openViewer(world),
    ];
    const released = watched(world.backend.releaseViewers('done · all is well', { mayStay: true }));
    for (const viewer of [still, hasty, reader])
      await viewer.shows(/done · all is well .* leaves in 11 s · Enter: now · any other key: stays/);
    await hasty.type('Enter');
    await hasty.shows(/let go/);
    await reader.type('x');
    await reader.shows(/done · all is well .* Ctrl-b d leaves/);
    expect(await still.screen()).toContain('leaves in 11 s');
    expect(released.over).toBe(false);
    timeIsOver();
    await still.shows(/let go/);
    await until(() => released.over, 'nobody is waited for');
    expect(await reader.screen()).toMatch(/last words[^]*done · all is well/);
    await reader.type('C-b', 'd');
    await reader.shows(/let go/);
  });

  test('nobody is waited for once the last one pressed a key or hung up, nor where nobody looks', async () => {
    const { world } = await openWorld();
    const [first, second] = [await openViewer(world), await openViewer(world)];
    const released = watched(world.backend.releaseViewers('failed · no', { mayStay: true }));
    await first.shows(/failed · no .*Enter: now/);
    await second.shows(/failed · no .*Enter: now/);
    await second.client.command('kill-server').catch(() => undefined);
    const looking = await world.look();
    const tables = () => looking.command('list-clients', '-F', '#{client_control_mode} #{client_key_table}');
    const waited = async () => (await tables()).filter((line) => line === '0 ao-over').length;
    await until(async () => (await waited()) === 1, 'the second one is gone');
    expect(released.over).toBe(false);
    await first.type('Space');
    await until(() => released.over, 'nobody is waited for');
    await first.shows(/Ctrl-b d leaves/);

    const alone = await openWorld();
    await alone.world.backend.releaseViewers('done', { mayStay: true });
  });

  test('where the place is to go, a key keeps nobody', async () => {
    const { world, timeIsOver } = await openWorld();
    const viewer = await openViewer(world);
    const released = watched(world.backend.releaseViewers('done', { mayStay: false }));
    await viewer.shows(/ done .* leaves in 11 s · Enter: now *$/);
    await viewer.type('x');
    await viewer.shows(/Ctrl-b d leaves/);
    expect(released.over).toBe(false);
    timeIsOver();
    await viewer.shows(/let go/);
    await until(() => released.over, 'nobody is waited for');
  });
});

describe('the key that pauses', () => {
  const asked = (world: TmuxWorld) => world.events.filter(({ type }) => type === 'pause_asked').length;

  test('asks first, and is told once; the person’s own settings do not take it away', async () => {
    const userConfig = join(sandbox.home, 'mine.conf');
    writeFileSync(userConfig, 'set -g prefix C-a\nbind-key P display-message mine\n');
    const { world } = await openWorld({ userConfig });
    const viewer = await openViewer(world);
    await viewer.shows(/Ctrl-a P pauses · Ctrl-a d leaves/);
    await viewer.type('C-a', 'P');
    await viewer.shows(/pause session [0-9a-f]{8}\?.*\(y\/n\)/);
    await viewer.type('n');
    await viewer.shows(/Ctrl-a P pauses/);
    await viewer.type('C-a', 'P');
    await viewer.shows(/\(y\/n\)/);
    expect(asked(world)).toBe(0);
    await viewer.type('y');
    await until(() => asked(world) > 0, 'the pause was asked for');
    await viewer.type('C-a', 'd');
    await viewer.shows(/let go/);
    expect(asked(world)).toBe(1);
  });

  test('reaches the session from inside a tmux of the person’s own, which stays as it is', async () => {
    const { world } = await openWorld();
    const own = `own-${randomBytes(3).toString('hex')}`;
    sandbox.onClose(async () => void (await killServer({ socketName: own, env: sandbox.env })));
    const outer = ['env', '-u', 'TMUX', 'tmux', '-f', '/dev/null', '-L', own, 'new-session'];
    const viewer = await openViewer(world, [...outer, ...viewing(world)]);
    const keysOf = () => viewer.client.command('list-keys', '-T', 'prefix');
    const before = await keysOf();
    await viewer.type('C-b', 'C-b', 'P');
    await viewer.shows(/\(y\/n\)/);
    await viewer.type('y');
    await until(() => asked(world) > 0, 'the pause was asked for');
    expect(await keysOf()).toEqual(before);
  });

  test('is gone when the session is over', async () => {
    const { world } = await openWorld();
    const viewer = await openViewer(world);
    const looking = await world.look();
    const isBound = async () =>
      (await looking.command('list-keys', '-T', 'prefix')).some((line) => line.includes('pause session'));
    expect(await isBound()).toBe(true);
    void world.backend.releaseViewers('done', { mayStay: true });
    await viewer.shows(/leaves in/);
    expect(await isBound()).toBe(false);
  });
});
