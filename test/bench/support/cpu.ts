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

/** The same with those of its children that have ended; in steps of 10 ms. */
export function cpuWithChildren(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    return cpuOf(pid) + (Number(fields[13]) + Number(fields[14])) * 10;
  } catch {
    return NaN;
  }
}
