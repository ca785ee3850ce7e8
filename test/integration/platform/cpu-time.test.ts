import { spawn, type ChildProcess } from 'node:child_process';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { systemClock } from '../../../src/platform/clock.js';
import { cpuMsOfPs, cpuTimeOf, type ProcessSource } from '../../../src/platform/process-tree.js';

let child: ChildProcess | undefined;
afterEach(() => void child?.kill('SIGKILL'));

/** A shell whose child works for a while, says so, and then lives on without doing anything. */
async function worked(): Promise<number> {
  const busy = 'const end = process.cpuUsage().user + 2.2e5; while (process.cpuUsage().user < end);';
  child = spawn('sh', ['-c', `"${process.execPath}" -e '${busy}'; echo done; read line`], {
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  await new Promise((resolve) => child?.stdout?.once('data', resolve));
  return child.pid ?? 0;
}

const sources: ProcessSource[] = process.platform === 'linux' ? ['proc', 'ps'] : ['ps'];

describe('CPU time of a process and what it started', () => {
  it.runIf(process.platform === 'linux')(
    'counts children that ended, and stands still while nothing is done',
    async () => {
      const pid = await worked();
      const used = await cpuTimeOf(pid, 'proc');
      expect(used).toBeGreaterThan(200);
      expect(await cpuTimeOf(pid, 'proc')).toBe(used);
    },
  );

  it.each(sources)('is a number where it lives, and nothing where it is gone (%s)', async (source) => {
    expect(await cpuTimeOf(process.pid, source)).toBeGreaterThanOrEqual(0);
    child = spawn('true');
    const { pid = 0 } = child;
    await new Promise((resolve) => child?.once('exit', resolve));
    expect(await cpuTimeOf(pid, source)).toBeNull();
  });

  it.each([
    ['0:00.05', 50],
    ['12:03.50', 723_500],
    ['01:00:02', 3_602_000],
    ['2-00:00:01', 172_801_000],
  ])('is read as ps writes it: %s', (time, ms) => {
    expect(cpuMsOfPs(time)).toBe(ms);
  });
});

describe('the clock of the system', () => {
  it('keeps a timer that is longer than Node’s longest', async () => {
    vi.useFakeTimers();
    try {
      let ran = 0;
      const [day, days] = [86_400_000, 60];
      systemClock.after(days * day, () => ran++);
      const cancel = systemClock.after(days * day, () => ran++);
      await vi.advanceTimersByTimeAsync(days * day - 1);
      expect(ran).toBe(0);
      cancel();
      await vi.advanceTimersByTimeAsync(1);
      expect([ran, vi.getTimerCount()]).toEqual([1, 0]);
    } finally {
      vi.useRealTimers();
    }
  });
});
