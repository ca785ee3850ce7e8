import { execFileSync, spawn } from 'node:child_process';
import { existsSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { BackendEvent } from '../../../../src/backends/contract.js';
import { processStartTime } from '../../../../src/platform/identity.js';
import { endProcesses } from '../../../../src/platform/launch/end-processes.js';
import {
  ATTEMPT_VARIABLE,
  launchFiles,
  launchScript,
  readPidFile,
} from '../../../../src/platform/launch/launcher.js';
import { processRef } from '../../../../src/platform/process-tree.js';
import { systemClock } from '../../../../src/platform/clock.js';
import { createSandbox, type Sandbox } from '../../../support/sandbox.js';
import { createTmuxWorld, until, type TmuxWorld } from '../../../support/tmux.js';

let sandbox: Sandbox;
let world: TmuxWorld;
beforeEach(async () => {
  sandbox = createSandbox();
  world = createTmuxWorld(sandbox);
  await world.backend.open();
});
afterEach(async () => sandbox.close());

const ignored = (pid: number) =>
  Number.parseInt(/SigIgn:\s*([0-9a-f]+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? '0', 16);
const isGone = (pid: number) => processStartTime(pid) === null;

describe('the end of an agent', () => {
  const CASES = [
    { how: 'exit 0', argv: ['/bin/sh', '-c', 'echo bye; exit 0'], status: 0 },
    { how: 'exit 5', argv: ['/bin/sh', '-c', 'echo bye; exit 5'], status: 5 },
    { how: 'SIGKILL', argv: ['/bin/sh', '-c', 'echo bye; kill -KILL $$'], status: 137 },
    { how: 'SIGTERM', argv: ['/bin/sh', '-c', 'echo bye; kill -TERM $$'], status: 143 },
    { how: 'no such program', argv: ['/nowhere/agent'], status: 127 },
  ];

  test('is told with the right status and the last lines, 40 times out of 40', async () => {
    const wrong: unknown[] = [];
    for (let round = 0; round < 8; round++) {
      const ends = CASES.map(async ({ how, argv, status }, index) => {
        const workerId = `w${round}${index}`;
        await world.backend.start(world.spec(workerId, argv));
        const exited = await world.exit(workerId);
        const tailIsRight = status === 127 ? /nowhere/.test(exited.outputTail) : exited.outputTail === 'bye';
        if (exited.status !== status || !tailIsRight) wrong.push({ how, exited });
      });
      await Promise.all(ends);
    }
    expect(wrong).toEqual([]);
    expect(world.events.filter(({ type }) => type === 'exited')).toHaveLength(40);
    expect(world.events.filter(({ type }) => type === 'lost')).toEqual([]);
  });

  test('comes with the last 20 lines, however much was printed just before', async () => {
    await world.backend.start(world.spec('w01', ['/bin/sh', '-c', 'seq 1 5000; exit 7']));
    const exited = await world.exit('w01');
    expect(exited).toMatchObject({
      status: 7,
      outputTail: Array.from({ length: 20 }, (_, index) => String(4981 + index)).join('\n'),
    });
    expect((await world.backend.read('w01', 3)).split('\n')).toEqual(['4998', '4999', '5000']);
  });

  const lost = () =>
    world.event((event): event is Extract<BackendEvent, { type: 'lost' }> => event.type === 'lost');

  test('that a person brings about by closing the pane is told as such, and the other panes stay', async () => {
    await world.backend.start(world.spec('lead', ['sleep', '1000']));
    const { paneId, pid } = await world.backend.start(world.spec('w01', ['sleep', '1000']));
    const client = await world.look();
    await client.command('kill-pane', '-t', paneId ?? '');
    expect(await lost()).toEqual({ type: 'lost', workerId: 'w01', reason: 'its pane was closed' });
    expect(isGone(pid)).toBe(true);
    expect(await world.panes('#{@ao_worker} #{pane_dead}')).toEqual(['lead 0']);
  });

  test('of an agent that survives its pane is an end, too: nobody could see or steer it', async () => {
    const { paneId, pid } = await world.backend.start(
      world.spec('w01', ['/bin/sh', '-c', 'trap "" HUP INT TERM; while :; do sleep 1; done']),
    );
    const client = await world.look();
    await until(() => (ignored(pid) & 0x4003) === 0x4003, 'the agent ignores what asks it to end');
    await client.command('kill-pane', '-t', paneId ?? '');
    expect(await lost()).toMatchObject({ workerId: 'w01' });
    expect(isGone(pid)).toBe(true);
  });

  test('is still told when the launcher was killed together with it', async () => {
    await world.backend.start(world.spec('lead', ['sleep', '1000']));
    const { pid, paneId } = await world.backend.start(world.spec('w01', ['sleep', '1000']));
    const client = await world.look();
    const [launcher] = await client.command('display-message', '-p', '-t', paneId ?? '', '#{pane_pid}');
    process.kill(Number(launcher), 'SIGKILL');
    process.kill(pid, 'SIGKILL');
    // The slow look would find it in 30 s; anything that changes the panes brings it forward.
    await client.command('split-window', '-d', '-t', paneId ?? '', 'true');
    expect(await world.exit('w01')).toMatchObject({ status: 137 });
  });
});

const STUBBORN = `
  trap '' INT TERM HUP
  setsid sh -c 'trap "" INT TERM HUP; echo $$ >"$HOME/own-session"; while :; do sleep 1; done' &
  (setsid sh -c '(trap "" HUP TERM; echo $(exec sh -c "echo \\$PPID") >"$HOME/orphan"; while :; do sleep 1; done) &' &)
  sleep 1000 & echo $! >"$HOME/child"
  while :; do sleep 1; done
`;

describe('stop', () => {
  const pidIn = (name: string) => Number(readFileSync(join(sandbox.home, name), 'utf8'));

  test('[52] ends an agent that ignores INT and TERM with everything it started, sessions of their own included', async () => {
    const { pid } = await world.backend.start(world.spec('w01', ['/bin/sh', '-c', STUBBORN]));
    for (const name of ['own-session', 'orphan', 'child'])
      await until(() => existsSync(join(sandbox.home, name)) && pidIn(name) > 0, name);
    const pids = [pid, pidIn('own-session'), pidIn('orphan'), pidIn('child')];
    expect(pids.filter(isGone)).toEqual([]);
    const startedAt = Date.now();
    expect(await world.backend.stop('w01', { graceMs: 1_000 })).toEqual({ verified: true, survivors: [] });
    expect(pids.filter((each) => !isGone(each))).toEqual([]);
    expect(Date.now() - startedAt).toBeLessThan(10_000);
    expect(world.events.findLast(({ type }) => type === 'exited')).toMatchObject({
      workerId: 'w01',
      status: 137,
    });
  });

  test('lets an agent that listens end by itself, and still takes what it left behind', async () => {
    const script = `trap 'echo saved; exit 3' INT; setsid sleep 1000 & echo $! >"$HOME/left"; while :; do sleep 0.05; done`;
    await world.backend.start(world.spec('w01', ['/bin/sh', '-c', script]));
    await until(() => existsSync(join(sandbox.home, 'left')) && pidIn('left') > 0, 'the agent runs');
    expect(await world.backend.stop('w01', { graceMs: 5_000 })).toEqual({ verified: true, survivors: [] });
    expect(await world.exit('w01')).toMatchObject({ status: 3, outputTail: 'saved' });
    expect(isGone(pidIn('left'))).toBe(true);
  });

  test('does not take what writes the exit status for something that the agent left behind', async () => {
    const argv = ['/bin/sh', '-c', 'setsid sleep 1000 & echo $! >"$HOME/left"; exec sleep 999'];
    const spec = world.spec('w01', argv, { directory: sandbox.home });
    const { attemptId } = spec;
    const files = launchFiles(sandbox.home, 'w01', attemptId);
    const plan = { files, realCwd: realpathSync(spec.cwd), without: [], stays: false };
    writeFileSync(files.script, launchScript(spec, plan));
    const env = { ...sandbox.env, [ATTEMPT_VARIABLE]: attemptId };
    const { pid: launcherPid = 0 } = spawn('/bin/sh', [files.script], { env, stdio: 'ignore' });
    await until(() => existsSync(join(sandbox.home, 'left')) && pidIn('left') > 0, 'the agent runs');
    // Writing takes as long as it likes: until somebody reads.
    execFileSync('sh', ['-c', 'mkfifo "$0"', files.exit]);
    const agent = await readPidFile(files.pid);
    const options = { graceMs: 5_000, clock: systemClock };
    const ended = endProcesses({ agent, launcher: processRef(launcherPid), attemptId }, options);
    await until(() => isGone(pidIn('left')), 'what the agent left behind is gone');
    const written = execFileSync('cat', [files.exit], { encoding: 'utf8', timeout: 20_000 });
    expect(written).toBe('130\n');
    expect(await ended).toEqual({ verified: true, survivors: [] });
  });

  test('ends an agent that was stopped by Ctrl-Z', async () => {
    const { pid } = await world.backend.start(world.spec('w01', ['sleep', '1000']));
    process.kill(pid, 'SIGSTOP');
    expect(await world.backend.stop('w01', { graceMs: 2_000 })).toEqual({ verified: true, survivors: [] });
    expect(isGone(pid)).toBe(true);
  });

  test('of an agent that has ended takes what still runs of it', async () => {
    await world.backend.start(
      world.spec('w01', ['/bin/sh', '-c', 'setsid sleep 1000 & echo $! >"$HOME/left"; exit 0']),
    );
    await world.exit('w01');
    expect(isGone(pidIn('left'))).toBe(false);
    expect(await world.backend.stop('w01', { graceMs: 500 })).toEqual({ verified: true, survivors: [] });
    expect(isGone(pidIn('left'))).toBe(true);
  });

  test('[C-60] never touches a process that only has the pid of one of ours', async () => {
    const foreign = spawn('sleep', ['1000'], { env: sandbox.env });
    const pid = foreign.pid ?? 0;
    sandbox.onClose(() => void foreign.kill('SIGKILL'));
    const result = await endProcesses(
      { agent: { pid, pidStartedAt: '12345' }, launcher: null, attemptId: 'nobody' },
      { graceMs: 100, clock: systemClock },
    );
    expect(result).toEqual({ verified: true, survivors: [] });
    expect(isGone(pid)).toBe(false);
  });

  test('finds the same processes where there is only ps', async () => {
    const { pid } = await world.backend.start(world.spec('w01', ['/bin/sh', '-c', STUBBORN]));
    for (const name of ['own-session', 'orphan', 'child'])
      await until(() => existsSync(join(sandbox.home, name)) && pidIn(name) > 0, name);
    const pids = [pid, pidIn('own-session'), pidIn('orphan'), pidIn('child')];
    const attemptId =
      /AGENTORCHESTR_ATTEMPT=([^\0]+)/.exec(readFileSync(`/proc/${pid}/environ`, 'utf8'))?.[1] ?? '';
    const result = await endProcesses(
      { agent: null, launcher: null, attemptId },
      { graceMs: 0, clock: systemClock, source: 'ps' },
    );
    expect(result).toEqual({ verified: true, survivors: [] });
    expect(pids.filter((each) => !isGone(each))).toEqual([]);
  });
});

test('the agent of a pane has the usual signals: INT from the keyboard ends it', async () => {
  writeFileSync(join(sandbox.home, 'x'), '');
  await world.backend.start(world.spec('w01', ['/bin/sh', '-c', 'echo up; exec sleep 1000']));
  await until(async () => (await world.backend.read('w01', 1)) === 'up', 'it runs');
  await world.backend.interrupt('w01');
  expect(await world.exit('w01')).toMatchObject({ status: 130 });
});
