import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { AgentdRig } from '../../support/agentd-rig.js';

const SCRIPT = `
name: daemon
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
  - contains: hang
    steps: [{ say: hanging }, { silence: true }]
`;

let rig: AgentdRig;
beforeEach(() => void (rig = new AgentdRig(SCRIPT)));
afterEach(() => rig.close());

it(
  '[1] [10] [11] [12] has one database to itself, loses nothing by a kill, and lets what runs end',
  { timeout: 180_000 },
  async () => {
    const first = await rig.start();
    expect(first.database).toBe(join(rig.folder, 'work/.data/agent-orchestrator.db'));
    expect(statSync(first.token_file).mode & 0o777).toBe(0o600);
    const announced = join(rig.folder, `.local/state/agentorchestr/daemons/127.0.0.1-${first.port}.json`);
    expect(JSON.parse(readFileSync(announced, 'utf8'))).toMatchObject({ pid: first.pid, url: first.url });

    const second = await rig.launch();
    expect((await once(second.child, 'exit'))[0]).toBe(1);
    expect(second.said()).toContain(`process ${first.pid}`);

    const id = await rig.session(first);
    const running = await rig.say(first, id, `until ${join(rig.folder, 'go')}`);
    const queued = await rig.say(first, id, 'say queued');
    await rig.word(first, id);
    await rig.end(first.child, 'SIGKILL');
    writeFileSync(join(rig.folder, 'go'), '');

    const next = await rig.start('--grace', '3');
    expect(await rig.over(next, running)).toMatchObject({ state: 'succeeded', result_text: 'saw it' });
    expect(await rig.over(next, queued)).toMatchObject({ state: 'succeeded', result_text: 'I say queued' });

    const [slow, stuck] = [await rig.session(next), await rig.session(next)];
    const ends = await rig.say(next, slow, `until ${join(rig.folder, 'end')}`);
    const hangs = await rig.say(next, stuck, 'hang');
    const waits = await rig.say(next, stuck, 'say later');
    await Promise.all([rig.word(next, slow), rig.word(next, stuck)]);
    next.child.kill('SIGTERM');
    await rig.draining(next);
    writeFileSync(join(rig.folder, 'end'), '');
    await once(next.child, 'exit');
    expect(next.child.exitCode).toBe(0);
    expect(
      existsSync(join(rig.folder, `.local/state/agentorchestr/daemons/127.0.0.1-${next.port}.json`)),
    ).toBe(false);

    const last = await rig.start();
    expect((await rig.over(last, ends)).state).toBe('succeeded');
    expect((await rig.over(last, hangs)).state).toBe('interrupted');
    expect(await rig.over(last, waits)).toMatchObject({ state: 'succeeded', result_text: 'I say later' });
    expect(await rig.end(last.child, 'SIGTERM')).toBe(0);
  },
);

function alive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

it(
  '[11] a run whose process died while there was no agentd is interrupted, and another message goes on',
  { timeout: 180_000 },
  async () => {
    const first = await rig.start();
    const id = await rig.session(first);
    const running = await rig.say(first, id, 'hang');
    const queued = await rig.say(first, id, 'say queued');
    await rig.word(first, id);
    const pid = await rig.pidOf(first, running);
    await rig.end(first.child, 'SIGKILL');
    process.kill(pid, 'SIGKILL');

    const next = await rig.start();
    expect(await rig.over(next, running)).toMatchObject({
      state: 'interrupted',
      error: { message: expect.stringContaining('while nobody watched it') },
    });
    expect(await rig.over(next, queued)).toMatchObject({ state: 'succeeded', result_text: 'I say queued' });
    expect(await rig.end(next.child, 'SIGTERM')).toBe(0);
  },
);

it.each([
  ['the same signal again', ['SIGTERM', 'SIGTERM']],
  ['three different ones', ['SIGTERM', 'SIGINT', 'SIGHUP']],
] as const)(
  '[12] stopped by %s it gives no more time, and leaves no agent at work and no run that runs',
  { timeout: 180_000 },
  async (_what, [first, ...others]) => {
    const daemon = await rig.start('--grace', '600');
    const id = await rig.session(daemon);
    const run = await rig.say(daemon, id, 'hang');
    await rig.word(daemon, id);
    const pid = await rig.pidOf(daemon, run);
    const exit = once(daemon.child, 'exit');
    daemon.child.kill(first);
    await rig.draining(daemon);
    expect(alive(pid)).toBe(true);
    for (const signal of others) daemon.child.kill(signal);
    expect(await exit).toEqual([0, null]);
    expect(alive(pid)).toBe(false);

    const next = await rig.start();
    expect((await rig.over(next, run)).state).toBe('interrupted');
    expect(await rig.end(next.child, 'SIGTERM')).toBe(0);
  },
);

it('[12] an answer that a stop had time for is the outcome of its run', { timeout: 120_000 }, async () => {
  const daemon = await rig.start();
  const id = await rig.session(daemon);
  const run = await rig.say(daemon, id, `until ${join(rig.folder, 'go')}`);
  await rig.word(daemon, id);
  daemon.child.kill('SIGTERM');
  await rig.draining(daemon);
  writeFileSync(join(rig.folder, 'go'), '');
  await once(daemon.child, 'exit');
  const next = await rig.start();
  expect(await rig.over(next, run)).toMatchObject({ state: 'succeeded', result_text: 'saw it' });
  expect(await rig.end(next.child, 'SIGTERM')).toBe(0);
});

it('what cannot be meant is refused at the start, and nothing is left of it', async () => {
  const taken = createServer().listen(0, '127.0.0.1');
  await once(taken, 'listening');
  const { port } = taken.address() as AddressInfo;
  const wrong: [string[], number, string][] = [
    [['--default-provider', 'nope'], 1, 'no agent "nope"'],
    [['--default-cwd', '/nonexistent'], 64, '--default-cwd /nonexistent'],
    [['--allow-root', 'missing'], 64, `--allow-root ${rig.work}/missing`],
    [['--agent-option', 'scripted.scrpt=x'], 64, 'did you mean scripted.script?'],
    [['--agent-option', 'scripted.script=missing.yaml'], 1, 'missing.yaml'],
    [['--port', String(port)], 1, `127.0.0.1:${port} is taken by another program`],
  ];
  for (const [flags, code, words] of wrong) {
    const refused = await rig.refused(...flags);
    expect([flags, refused.code]).toEqual([flags, code]);
    expect(refused.said).toContain(words);
    expect(readdirSync(rig.work)).toEqual([]);
  }
  taken.close();
  const foreign = join(rig.work, 'notes.txt');
  writeFileSync(foreign, 'my notes\n', { mode: 0o644 });
  expect((await rig.refused('--db', foreign)).code).not.toBe(0);
  expect(statSync(foreign).mode & 0o777).toBe(0o644);
  expect(readFileSync(foreign, 'utf8')).toBe('my notes\n');
}, 120_000);

it('keeps all that is its own out of a repository that it is started in', { timeout: 120_000 }, async () => {
  const env = { PATH: process.env['PATH'], HOME: rig.folder };
  const options = { cwd: rig.work, env, encoding: 'utf8' } as const;
  execFileSync('git', ['init', '-q'], options);
  const daemon = await rig.start('--db', 'db/mine.db');
  expect(execFileSync('git', ['status', '--porcelain', '--untracked-files=all'], options)).toBe('');
  expect(await rig.end(daemon.child, 'SIGTERM')).toBe(0);
});
