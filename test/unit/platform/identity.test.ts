import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it } from 'vitest';
import {
  bootId,
  isSameProcessAlive,
  linuxStat,
  ownIdentity,
  portableStartTime,
  processStartTime,
} from '../../../src/platform/identity.js';

const GONE = 2 ** 22 + 1;

async function withChild<T>(work: (pid: number) => T): Promise<T> {
  const child = spawn('sleep', ['30']);
  await once(child, 'spawn');
  try {
    return work(child.pid ?? 0);
  } finally {
    child.kill('SIGKILL');
    await once(child, 'exit');
  }
}

describe.each([
  ['of this system', processStartTime],
  ['of ps', portableStartTime],
])('the start time %s', (_where, startTime) => {
  it('stays the same while a process lives, and is null once it is gone', async () => {
    const seen: { pid: number; time: string | null } = await withChild((pid) => {
      expect(startTime(pid)).toBe(startTime(pid));
      return { pid, time: startTime(pid) };
    });
    expect(seen.time).toMatch(/\d/);
    expect([startTime(seen.pid), startTime(GONE)]).toEqual([null, null]);
  });

  it('tells this process from its parent', () => {
    expect(startTime(process.pid)).not.toBeNull();
    expect(startTime(process.ppid)).not.toBeNull();
  });

  it('of a zombie is none', async () => {
    // The shell starts a child, becomes `sleep`, and so never asks how its child ended.
    const parent = spawn('sh', ['-c', 'sleep 0.2 & echo $!; exec sleep 30'], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      const [line] = (await once(parent.stdout, 'data')) as [Buffer];
      const pid = Number(line.toString());
      const deadline = Date.now() + 5_000;
      while (linuxStat(pid)?.state !== 'Z' && Date.now() < deadline)
        await new Promise((resolve) => setImmediate(resolve));
      expect(linuxStat(pid)?.state).toBe('Z');
      expect(startTime(pid)).toBeNull();
    } finally {
      parent.kill('SIGKILL');
      await once(parent, 'exit');
    }
  });
});

describe('the identity of a process', () => {
  it('is alive only as this very process, on this very boot', () => {
    const own = ownIdentity();
    expect(own).toEqual({ pid: process.pid, pidStartedAt: processStartTime(process.pid), bootId: bootId() });
    expect(isSameProcessAlive(own)).toBe(true);
    expect(isSameProcessAlive({ ...own, pidStartedAt: '1' })).toBe(false);
    expect(isSameProcessAlive({ ...own, bootId: 'another' })).toBe(false);
    expect(isSameProcessAlive({ ...own, pid: GONE })).toBe(false);
  });

  it('is read although the command has parentheses and spaces in its name', () => {
    const script = `process.title = 'a) S 1 (b'; console.log(require('fs').readFileSync('/proc/self/stat', 'utf8'))`;
    const { stdout } = spawnSync(process.execPath, ['-e', script], { encoding: 'utf8' });
    expect(stdout).toContain('(a) S 1 (b)');
    const own = linuxStat(process.pid);
    expect(own).toMatchObject({
      parent: process.ppid,
      startTicks: expect.stringMatching(/^\d+$/) as unknown,
    });
  });

  it('has one boot id per boot', () => {
    expect(bootId()).toBe(bootId());
    expect(bootId()).toMatch(/^[0-9a-f-]{36}$/);
  });
});
