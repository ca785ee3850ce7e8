import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { linuxStat } from './identity.js';

/** Looks at a process that shows no environment, ms apart: 63 ms in all. */
const PAUSES_MS = [0, 1, 2, 4, 8, 16, 32];

export interface ProcessEnvironment {
  readonly pid: number;
  /** `\0name=value\0name=value\0` */
  readonly entries: string;
}

/** Processes that have no environment at all: pid → when it started. They are not waited for again. */
let bare = new Map<number, string>();

/**
 * The environments that the processes of this machine were started with, as far as they may be read (Linux). One that
 * is just being replaced by another program (execve) shows an empty environment for a moment, longer where the machine
 * is busy: it is looked at again, for whatever it is must not be missed.
 */
export async function environmentsFromProc(): Promise<readonly ProcessEnvironment[]> {
  const found: ProcessEnvironment[] = [];
  const stillBare = new Map<number, string>();
  let unsure = procPids();
  for (const ms of PAUSES_MS) {
    if (unsure.length === 0) break;
    if (ms > 0) await pause(ms);
    unsure = unsure.filter((pid) => {
      const text = environmentOf(pid);
      if (text === null) return false;
      if (text !== '') return (found.push({ pid, entries: `\0${text}\0` }), false);
      const since = startOfUserProcess(pid);
      if (since === null) return false;
      if (bare.get(pid) === since) return (stillBare.set(pid, since), false);
      return true;
    });
  }
  for (const pid of unsure) stillBare.set(pid, startOfUserProcess(pid) ?? '');
  bare = stillBare;
  return found;
}

export function procPids(): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => Number.isInteger(pid) && pid > 0);
}

/** null: it is gone, or of somebody else. */
function environmentOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'utf8');
  } catch {
    return null;
  }
}

/** null: it has ended, or is a thread of the kernel, which has no environment ever. */
function startOfUserProcess(pid: number): string | null {
  const stat = linuxStat(pid);
  if (stat === null || stat === undefined || stat.state === 'Z' || stat.state === 'X') return null;
  return stat.isKernelThread ? null : stat.startTicks;
}
