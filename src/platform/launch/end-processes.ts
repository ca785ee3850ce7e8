import { delay, type Clock } from '../../core/clock.js';
import {
  goneWithin,
  isAlive,
  processesWithVariable,
  processTree,
  signalProcess,
  type ProcessRef,
  type ProcessSource,
} from '../process-tree.js';
import { ATTEMPT_VARIABLE } from './launcher.js';

export interface Ended {
  /** true: no process of the agent is left (checked by pid, start time and marker). */
  readonly verified: boolean;
  readonly survivors: readonly number[];
}

export interface StopTarget {
  /** The agent; null when its pid was never known. */
  readonly agent: ProcessRef | null;
  /** The pane's own process, which still has to write the exit status. */
  readonly launcher: ProcessRef | null;
  readonly attemptId: string;
}

export interface StopOptions {
  /** How long the agent has to end by itself: half of it after INT, half after TERM. */
  readonly graceMs: number;
  readonly clock: Clock;
  readonly source?: ProcessSource;
}

const KILL_LIMIT_MS = 4_000;

/**
 * Ends an agent and all it started: INT, TERM, then KILL for the whole tree and for every process that carries the
 * attempt's marker. Agents run tools in sessions of their own, which survive the agent and its terminal; what was seen
 * in the tree before is remembered, because a dead parent's children are nobody's. Signals go only to processes whose
 * start time is still the one that was seen.
 */
export async function endProcesses(target: StopTarget, options: StopOptions): Promise<Ended> {
  const { agent } = target;
  const sweep = new Sweep(target, options.source);
  if (agent !== null && isAlive(agent)) {
    await sweep.look();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      signalProcess(agent, signal);
      // A stopped process takes no signal but KILL before it goes on.
      signalProcess(agent, 'SIGCONT');
      if (await goneWithin(agent, options.graceMs / 2, options.clock)) break;
    }
  }
  const deadline = options.clock.now() + KILL_LIMIT_MS;
  for (
    let pauseMs = 2;
    (await sweep.look()).length > 0 && options.clock.now() < deadline;
    pauseMs = Math.min(pauseMs * 2, 50)
  ) {
    sweep.kill();
    await delay(options.clock, pauseMs);
  }
  if (target.launcher !== null) await endLauncher(target.launcher, options.clock);
  const survivors = (await sweep.look()).map(({ pid }) => pid);
  return { verified: survivors.length === 0, survivors };
}

class Sweep {
  private readonly target: StopTarget;
  private readonly source: ProcessSource | undefined;
  private readonly known = new Map<string, ProcessRef>();

  constructor(target: StopTarget, source: ProcessSource | undefined) {
    this.target = target;
    this.source = source;
    if (target.agent !== null) this.add(target.agent);
  }

  /** What lives of all that was ever seen, the launcher aside. */
  async look(): Promise<readonly ProcessRef[]> {
    const marked = await processesWithVariable(ATTEMPT_VARIABLE, this.target.attemptId, this.source);
    const spared = marked.length === 0 ? [] : await this.launchersOwn();
    for (const found of marked) if (!spared.includes(found.pid)) this.add(found);
    const roots = this.alive().map(({ pid }) => pid);
    for (const found of await processTree(roots, this.source)) this.add(found);
    return this.alive();
  }

  kill(): void {
    for (const found of this.alive()) signalProcess(found, 'SIGKILL');
  }

  /** What the launcher starts to write the exit status carries the mark as well: killed in the middle, it would be lost. */
  private async launchersOwn(): Promise<readonly number[]> {
    const { agent, launcher } = this.target;
    if (agent === null || launcher === null) return [];
    const ofAgent = (await processTree([agent.pid], this.source)).map(({ pid }) => pid);
    const ofLauncher = (await processTree([launcher.pid], this.source)).map(({ pid }) => pid);
    return ofLauncher.filter((pid) => !ofAgent.includes(pid));
  }

  private alive(): readonly ProcessRef[] {
    return [...this.known.values()].filter(isAlive);
  }

  private add(found: ProcessRef): void {
    if (found.pid === process.pid) return;
    if (found.pid !== this.target.launcher?.pid) this.known.set(`${found.pid} ${found.pidStartedAt}`, found);
  }
}

/** Tells a launcher that its agent's last words were read. */
export function releaseLauncher(launcher: ProcessRef): void {
  signalProcess(launcher, 'SIGUSR1');
}

/** It ends by itself once its agent's end was told; KILL only if it does not: an exit status that it still writes would be lost. */
async function endLauncher(launcher: ProcessRef, clock: Clock): Promise<void> {
  if (await goneWithin(launcher, 3_000, clock)) return;
  releaseLauncher(launcher);
  signalProcess(launcher, 'SIGCONT');
  if (await goneWithin(launcher, 500, clock)) return;
  signalProcess(launcher, 'SIGKILL');
  await goneWithin(launcher, 1_000, clock);
}
