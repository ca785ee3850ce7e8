import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  runProcess,
  runShellCommand,
  type ProcessOptions,
  type ShellOptions,
} from '../../../src/platform/process.js';
import { processRef, isAlive } from '../../../src/platform/process-tree.js';

const ENV = { PATH: process.env['PATH'], LC_ALL: 'C' };

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'ao-process-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const run = (script: string, options: Partial<ProcessOptions> = {}) =>
  runProcess('sh', ['-c', script], { env: ENV, timeoutMs: 10_000, ...options });

/** What does not depend on how fast the machine is. */
async function outcome(running: ReturnType<typeof runProcess>) {
  const { durationMs, ...rest } = await running;
  expect(durationMs).toBeGreaterThanOrEqual(0);
  return rest;
}

const FINE = { exitCode: 0, stdout: '', stderr: '', timedOut: false, truncated: false, notStarted: false };

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 5_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('it did not happen within 5 s');
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** The pid that the command wrote to the file `pid`, as a process that cannot be mistaken. */
async function started() {
  const file = join(folder, 'pid');
  await until(() => existsSync(file) && readFileSync(file, 'utf8').endsWith('\n'));
  const ref = processRef(Number(readFileSync(file, 'utf8')));
  if (ref === null) throw new Error('it has ended already');
  return ref;
}

describe('a process', () => {
  it('gives its streams apart, without the last line break', async () => {
    expect(await outcome(run('echo out; echo err >&2'))).toEqual({ ...FINE, stdout: 'out', stderr: 'err' });
  });

  it('gives them as they came, or in one, when asked', async () => {
    expect((await run('printf "a\\n\\n"', { raw: true })).stdout).toBe('a\n\n');
    const { stdout } = await run('echo a; echo b >&2', { merge: true });
    expect(stdout.split('\n').sort()).toEqual(['a', 'b']);
  });

  it('reads what it is given, else nothing', async () => {
    expect((await run('cat', { input: 'über\n', raw: true })).stdout).toBe('über\n');
    expect((await run('cat')).stdout).toBe('');
  });

  it('gets exactly the environment it is given', async () => {
    const { stdout } = await run('env | cut -d= -f1 | sort', {
      env: { PATH: ENV.PATH, ONE: '1', NONE: undefined },
    });
    expect(stdout.split('\n').filter((name) => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name))).toEqual([
      'ONE',
      'PATH',
    ]);
  });

  it('that fails is an answer, not an exception', async () => {
    expect(await outcome(run('exit 3'))).toEqual({ ...FINE, exitCode: 3 });
    expect(await outcome(run('kill -KILL $$'))).toEqual({ ...FINE, exitCode: null });
  });

  it.each([
    ['does not exist', '/nowhere/program', {}],
    ['has no folder to run in', 'true', { cwd: '/nowhere' }],
    ['may not be executed', '/etc/passwd', {}],
  ])('that %s was not started, and says why', async (_what, file, more) => {
    const result = await runProcess(file, [], { env: ENV, timeoutMs: 5_000, ...more });
    expect(result).toMatchObject({ exitCode: null, notStarted: true, timedOut: false, stdout: '' });
    expect(result.stderr).toMatch(/ENOENT|EACCES/);
  });

  it('is ended at its time limit, even when it ignores being asked', async () => {
    const result = await outcome(
      run("trap '' TERM; echo begun; while :; do sleep 0.1; done", { timeoutMs: 300 }),
    );
    expect(result).toEqual({ ...FINE, exitCode: null, stdout: 'begun', timedOut: true });
  });

  it('is not waited for because something that it left keeps its output open', async () => {
    const left = run(`sleep 60 & echo $! > ${folder}/pid; echo done`, { timeoutMs: 30_000 });
    const leftover = await started();
    expect(await outcome(left)).toEqual({ ...FINE, stdout: 'done' });
    expect(isAlive(leftover)).toBe(true);
    process.kill(leftover.pid, 'SIGKILL');
  });

  it('that was called off before it began is ended at once', async () => {
    const result = await run('sleep 60', { signal: AbortSignal.abort() });
    expect(result).toMatchObject({ exitCode: null, timedOut: false });
  });

  it('is ended when more comes than there is room for, and says that this is not all', async () => {
    const result = await run('yes', { maxBufferBytes: 1_000 });
    expect(result).toMatchObject({ truncated: true, notStarted: false, timedOut: false });
    expect(result.stdout.length).toBeLessThanOrEqual(1_000);
  });
});

const shell = (command: string, options: Partial<ShellOptions> = {}) =>
  runShellCommand(command, { cwd: folder, env: ENV, timeoutMs: 10_000, tailChars: 1_000, ...options });

describe('a command line', () => {
  it('runs in its folder, with both streams in one', async () => {
    const { exitCode, tail } = await shell('pwd; echo err >&2');
    expect([exitCode, tail.split('\n').sort()]).toEqual([0, [folder, 'err'].sort()]);
  });

  it.each([
    ['exit 0', 0],
    ['exit 5', 5],
    ['no-such-command', 127],
    ['kill -TERM $$', 143],
    ['kill -KILL $$', 137],
  ])('%s has exit code %i', async (command, code) => {
    expect((await shell(command)).exitCode).toBe(code);
  });

  it('that cannot be started has 127 and says why', async () => {
    const { exitCode, tail } = await shell('true', { cwd: join(folder, 'not there') });
    expect(exitCode).toBe(127);
    expect(tail).toContain('not there');
  });

  it('keeps the last characters, however much comes', async () => {
    const { tail } = await shell('seq 1 200000', { tailChars: 20 });
    expect(tail).toBe('99998\n199999\n200000');
    expect((await shell('printf "äöü"', { tailChars: 2 })).tail).toBe('öü');
  });

  it('is ended at its limit together with all it started, INT and TERM ignored or not', async () => {
    const running = shell(`(trap '' TERM INT; sleep 60 & echo $! > pid; wait; wait; sleep 60) & wait`, {
      timeoutMs: 400,
    });
    const grandchild = await started();
    expect((await running).exitCode).toBeNull();
    await until(() => !isAlive(grandchild));
  });

  it('is ended when it is called off', async () => {
    const caller = new AbortController();
    const running = shell('sleep 60 & echo $! > pid; wait', { signal: caller.signal });
    const child = await started();
    caller.abort();
    expect((await running).exitCode).toBeNull();
    await until(() => !isAlive(child));
  });

  it('is not begun when it was called off before', async () => {
    const result = await shell('touch begun', { signal: AbortSignal.abort() });
    expect(result).toEqual({ exitCode: null, durationMs: 0, tail: '' });
    expect(existsSync(join(folder, 'begun'))).toBe(false);
  });

  it('takes what it left behind with it, and is over when it is over', async () => {
    const { exitCode, tail } = await shell('sleep 60 & echo $! > pid; echo done', { timeoutMs: 60_000 });
    expect([exitCode, tail]).toEqual([0, 'done']);
    const left = processRef(Number(readFileSync(join(folder, 'pid'), 'utf8')));
    await until(() => left === null || !isAlive(left));
  });

  it('is not waited for because of what left its group with the output still open', async () => {
    const running = shell(
      "setsid sh -c 'echo $$ > pid; exec sleep 60' & while [ ! -s pid ]; do :; done; echo done",
      {
        timeoutMs: 60_000,
      },
    );
    const left = await started();
    const { exitCode, tail } = await running;
    expect([exitCode, tail]).toEqual([0, 'done']);
    process.kill(left.pid, 'SIGKILL');
  });
});
