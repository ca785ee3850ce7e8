import { readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';

/** A process as one that cannot be confused with a later one of the same pid. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Linux: clock ticks since boot, of /proc. Elsewhere: `ps -o lstart`. Only compared, never computed with. */
  readonly pidStartedAt: string;
  readonly bootId: string;
}

/** When the process started, or null when there is none (a zombie counts as none). */
export function processStartTime(pid: number): string | null {
  const stat = linuxStat(pid);
  if (stat !== undefined)
    return stat === null || stat.state === 'Z' || stat.state === 'X' ? null : stat.startTicks;
  return portableStartTime(pid);
}

/** The same answer by `ps`, for systems without /proc; exported so that Linux tests can force it. */
export function portableStartTime(pid: number): string | null {
  try {
    const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], {
      encoding: 'utf8',
      timeout: 5_000,
    }).trim();
    return line === '' || line.startsWith('Z') ? null : line.replace(/^\S+\s+/, '');
  } catch {
    return null;
  }
}

/** One value per boot of this machine. */
export function bootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    try {
      return execFileSync('sysctl', ['-n', 'kern.bootsessionuuid'], {
        encoding: 'utf8',
        timeout: 5_000,
      }).trim();
    } catch {
      return 'unknown';
    }
  }
}

export function ownIdentity(): ProcessIdentity {
  const started = processStartTime(process.pid);
  if (started === null) throw new Error('cannot read the start time of this process');
  return { pid: process.pid, pidStartedAt: started, bootId: bootId() };
}

export function isSameProcessAlive(identity: ProcessIdentity): boolean {
  return identity.bootId === bootId() && processStartTime(identity.pid) === identity.pidStartedAt;
}

/** Of the kernel's flags of a process (include/linux/sched.h). */
const PF_KTHREAD = 0x0020_0000;

interface LinuxStat {
  readonly state: string;
  readonly parent: number;
  readonly isKernelThread: boolean;
  readonly startTicks: string;
  /** CPU time of its own and of its children that ended, clock ticks. */
  readonly cpuTicks: number;
}

/** undefined: this system has no /proc; null: no such process. */
export function linuxStat(pid: number): LinuxStat | null | undefined {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return process.platform === 'linux' ? null : undefined;
  }
  // The command name stands in parentheses and may hold spaces and parentheses itself.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  const cpuTicks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  const isKernelThread = (Number(fields[6]) & PF_KTHREAD) !== 0;
  const [state = '', parent] = fields;
  return { state, parent: Number(parent), isKernelThread, startTicks: fields[19] ?? '', cpuTicks };
}
