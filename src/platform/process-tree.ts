import { delay, type Clock } from '../core/clock.js';
import { environmentsFromProc, procPids } from './environments.js';
import { runProcess } from './process.js';
import { linuxStat, processStartTime } from './identity.js';

/** A process that cannot be confused with a later one of the same pid. */
export interface ProcessRef {
  readonly pid: number;
  readonly pidStartedAt: string;
}

/** `proc` reads /proc; `ps` asks ps (macOS and the BSDs). */
export type ProcessSource = 'proc' | 'ps';

const defaultProcessSource: ProcessSource = process.platform === 'linux' ? 'proc' : 'ps';

/** The `roots` and everything that descends from them now, parents first; those that are gone are left out. */
export async function processTree(
  roots: readonly number[],
  source: ProcessSource = defaultProcessSource,
): Promise<readonly ProcessRef[]> {
  if (roots.length === 0) return [];
  const children = new Map<number, number[]>();
  for (const { pid, parent } of await (source === 'proc' ? parentsFromProc() : parentsFromPs())) {
    const siblings = children.get(parent);
    if (siblings === undefined) children.set(parent, [pid]);
    else siblings.push(pid);
  }
  // A Set is walked in the order of insertion, what is added on the way included.
  const found = new Set(roots);
  for (const pid of found) for (const child of children.get(pid) ?? []) found.add(child);
  return refs([...found]);
}

/**
 * Live processes that were started with `name=value` in their environment: what a program left behind carries it even
 * after it moved to a session of its own and was given to init. Processes that may not be read are left out.
 */
export async function processesWithVariable(
  name: string,
  value: string,
  source: ProcessSource = defaultProcessSource,
): Promise<readonly ProcessRef[]> {
  const entry = `${name}=${value}`;
  const pids = await (source === 'proc' ? pidsWithEntryFromProc(entry) : pidsWithEntryFromPs(entry));
  return refs(pids.filter((pid) => pid !== process.pid));
}

/** The process that has this pid now. */
export function processRef(pid: number): ProcessRef | null {
  const pidStartedAt = processStartTime(pid);
  return pidStartedAt === null ? null : { pid, pidStartedAt };
}

/** What Linux counts CPU time in, whatever its kernel was built with. */
const TICK_MS = 10;

/** CPU time that a process and everything it started have used, ms; null when it is gone. */
export async function cpuTimeOf(
  pid: number,
  source: ProcessSource = defaultProcessSource,
): Promise<number | null> {
  const tree = (await processTree([pid], source)).map((ref) => ref.pid);
  if (tree.length === 0) return null;
  if (source === 'proc') return tree.reduce((sum, one) => sum + (linuxStat(one)?.cpuTicks ?? 0) * TICK_MS, 0);
  const lines = await psLines(['-o', 'time=', '-p', tree.join(',')]);
  return lines.reduce((sum, line) => sum + cpuMsOfPs(line.trim()), 0);
}

/** `[[days-]hours:]minutes:seconds`, with hundredths on macOS. */
export function cpuMsOfPs(time: string): number {
  const [days, clock] = time.includes('-') ? time.split('-') : ['0', time];
  const parts = (clock ?? '').split(':').map(Number);
  const seconds = parts.reduce((sum, part) => sum * 60 + part, 0);
  return Math.round((Number(days) * 86_400 + seconds) * 1_000);
}

/** Sends `signal` if this very process still lives; false when it does not. */
export function signalProcess(target: ProcessRef, signal: NodeJS.Signals): boolean {
  if (processStartTime(target.pid) !== target.pidStartedAt) return false;
  try {
    process.kill(target.pid, signal);
    return true;
  } catch {
    return false;
  }
}

export function isAlive(target: ProcessRef): boolean {
  return processStartTime(target.pid) === target.pidStartedAt;
}

/** true for a process stopped by job control (Ctrl-Z, SIGSTOP), false otherwise, tracing included. */
export function isStopped(pid: number): boolean {
  return linuxStat(pid)?.state === 'T';
}

export async function goneWithin(target: ProcessRef, limitMs: number, clock: Clock): Promise<boolean> {
  const deadline = clock.now() + limitMs;
  for (let pauseMs = 2; isAlive(target); pauseMs = Math.min(pauseMs * 2, 50)) {
    if (clock.now() >= deadline) return false;
    await delay(clock, pauseMs);
  }
  return true;
}

function refs(pids: readonly number[]): ProcessRef[] {
  return pids.flatMap((pid) => processRef(pid) ?? []);
}

/** Whoever asks in one turn of the loop shares one look: a crowd that ends would look for each of its members. */
function shared<T>(look: () => T | Promise<T>): () => Promise<T> {
  let next: Promise<T> | null = null;
  return () =>
    (next ??= new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      next = null;
      return look();
    }));
}

const parentsFromProc = shared(() =>
  procPids().flatMap((pid) => {
    const stat = linuxStat(pid);
    return stat === null || stat === undefined ? [] : [{ pid, parent: stat.parent }];
  }),
);

const environments = shared(environmentsFromProc);

async function pidsWithEntryFromProc(entry: string): Promise<number[]> {
  const all = await environments();
  return all.filter(({ entries }) => entries.includes(`\0${entry}\0`)).map(({ pid }) => pid);
}

async function parentsFromPs(): Promise<{ pid: number; parent: number }[]> {
  return (await psLines(['-A', '-o', 'pid=,ppid='])).map((line) => {
    const [pid, parent] = line.trim().split(/\s+/).map(Number);
    return { pid: pid ?? 0, parent: parent ?? 0 };
  });
}

const environmentsFromPs = shared(() => {
  const withEnvironment = process.platform === 'linux' ? ['axeww'] : ['-A', '-E', '-ww'];
  return psLines([...withEnvironment, '-o', 'pid=,command=']);
});

/** ps appends the environment to the command, parted by spaces only: so the entry must not hold any itself. */
async function pidsWithEntryFromPs(entry: string): Promise<number[]> {
  return (await environmentsFromPs())
    .map((line) => line.trim().split(/\s+/))
    .filter((words) => words.includes(entry, 1))
    .map((words) => Number(words[0]));
}

async function psLines(args: readonly string[]): Promise<string[]> {
  const result = await runProcess('ps', args, {
    env: { PATH: process.env['PATH'] ?? '/usr/bin:/bin', LC_ALL: 'C' },
    timeoutMs: 5_000,
  });
  return result.stdout.split('\n').filter((line) => line.trim() !== '');
}
