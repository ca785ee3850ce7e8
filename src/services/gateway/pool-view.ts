import { RUN_STATES, type RunState } from '../../core/state/states.js';
import type { RunRow } from '../../core/state/rows.js';
import type { Reader } from '../../store/contract.js';
import type { Gateway } from './gateway.js';

export type QueueCounts = { [State in RunState as `${State}_count`]: number } & { cancelling_count: number };

/** Runs that are not over, of every conversation; those that came first are first. */
export function openRuns(reader: Reader): RunRow[] {
  const cameAt = (run: RunRow) => reader.message(run.message_id)?.accepted_seq ?? 0;
  return reader
    .unfinishedSessions('conversation')
    .flatMap((sessionId) => reader.runs(sessionId))
    .filter(({ ended_at }) => ended_at === null)
    .map((run) => ({ run, at: cameAt(run) }))
    .toSorted((one, other) => one.at - other.at)
    .map(({ run }) => run);
}

export function queueCounts(reader: Reader, open: readonly RunRow[]): QueueCounts {
  const found = reader.runCounts();
  const counts = Object.fromEntries(RUN_STATES.map((state) => [`${state}_count`, found[state] ?? 0]));
  const isCancelling = (run: RunRow) => run.state === 'running' && run.cancel_requested_at !== null;
  return { ...counts, cancelling_count: open.filter(isCancelling).length } as QueueCounts;
}

export interface Place {
  readonly worker_id: string;
  readonly alive: boolean;
  readonly run_id: string | null;
  readonly last_heartbeat_at: string;
  readonly restarts: number;
}

/** The places of the pool, and those beyond its size. They are alive while this process answers and takes runs. */
export function places(gateway: Gateway): Place[] {
  const { running, size } = gateway.slots;
  const now = new Date(gateway.clock.now()).toISOString();
  return Array.from({ length: Math.max(size, running.length) }, (_, index) => ({
    worker_id: `worker-${index + 1}`,
    alive: !gateway.isDraining,
    run_id: running[index] ?? null,
    ...{ last_heartbeat_at: now, restarts: 0 },
  }));
}
