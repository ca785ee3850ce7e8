import { readdirSync, readFileSync } from 'node:fs';

/** CPU time of one process without those that it started, ms; read from the scheduler. Linux only: NaN elsewhere. */
export function cpuOf(pid: number): number {
  try {
    const tasks = readdirSync(`/proc/${pid}/task`);
    const nanoseconds = tasks.map((task) => readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8'));
    return nanoseconds.reduce((sum, text) => sum + Number(text.split(' ')[0]), 0) / 1e6;
  } catch {
    return NaN;
  }
}

/** Resident memory of one process, MB. Linux only: NaN elsewhere. */
export function residentOf(pid: number): number {
  try {
    const [, kilobytes = 'NaN'] = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return Number(kilobytes) / 1_024;
  } catch {
    return NaN;
  }
}
