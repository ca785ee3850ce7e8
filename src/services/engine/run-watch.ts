import { isTerminalRun } from '../../core/state/states.js';
import type { StoredEvent } from '../../core/events/index.js';
import { fact, openRun, type EngineDeps } from './deps.js';

/** Watches how long runs take, and whether their agents give a sign of being at it. */
export class RunWatch {
  readonly #deps: EngineDeps;
  readonly #onTimeout: (workerId: string, runId: string) => void;
  readonly #limits = new Map<string, () => void>();
  /** Worker → its last sign, and what looks again. */
  readonly #signs = new Map<string, { at: number; told: boolean; cancel: () => void }>();

  constructor(deps: EngineDeps, onTimeout: (workerId: string, runId: string) => void) {
    this.#deps = deps;
    this.#onTimeout = onTimeout;
  }

  /** Runs that began under an earlier supervisor have used up some of their time. */
  takeUp(): void {
    for (const run of this.#deps.store.runs(this.#deps.sessionId))
      if (run.started_at !== null && !isTerminalRun(run.state)) this.#limit(run.worker_id, run.run_id);
  }

  onEvent(event: StoredEvent): void {
    const { worker_id: workerId = '', run_id: runId = '' } = event;
    if (event.type === 'run.started') this.#limit(workerId, runId);
    if (event.type === 'run.started' || event.type === 'worker.working') this.sign(workerId);
    const run = runId === '' ? null : this.#deps.store.run(runId);
    if (run !== null && isTerminalRun(run.state)) {
      this.#limits.get(runId)?.();
      this.#limits.delete(runId);
    }
  }

  /** Its agent said, showed or asked something. */
  sign(workerId: string): void {
    const { clock, stallMs } = this.#deps;
    if (stallMs === null) return;
    const known = this.#signs.get(workerId);
    if (known === undefined) {
      const cancel = clock.after(stallMs, () => this.#look(workerId));
      this.#signs.set(workerId, { at: clock.now(), told: false, cancel });
    } else Object.assign(known, { at: clock.now(), told: false });
  }

  close(): void {
    for (const cancel of this.#limits.values()) cancel();
    for (const { cancel } of this.#signs.values()) cancel();
    this.#limits.clear();
    this.#signs.clear();
  }

  /** Told once for each time of silence; looked after as long as the run is at it. */
  #look(workerId: string): void {
    const { clock, store, sessionId, stallMs } = this.#deps;
    const sign = this.#signs.get(workerId);
    const run = openRun(store, sessionId, workerId);
    if (sign === undefined || stallMs === null) return;
    if (run?.state !== 'running' || run.started_at === null) return void this.#signs.delete(workerId);
    const quietMs = clock.now() - sign.at;
    if (quietMs >= stallMs && !sign.told) {
      sign.told = true;
      const subject = { session_id: sessionId, worker_id: workerId, run_id: run.run_id };
      store.append(
        fact('run.stalled', { ...subject, source: 'supervisor', evidence: 'silence' }, { quiet_ms: quietMs }),
      );
    }
    const nextMs = quietMs >= stallMs ? stallMs : stallMs - quietMs;
    sign.cancel = clock.after(nextMs, () => this.#look(workerId));
  }

  #limit(workerId: string, runId: string): void {
    const { store, clock } = this.#deps;
    const run = store.run(runId);
    const limit = run?.timeout_ms ?? null;
    const beganAt = run?.started_at ?? null;
    if (limit === null || beganAt === null || this.#limits.has(runId)) return;
    const leftMs = Math.max(0, Date.parse(beganAt) + limit - clock.now());
    this.#limits.set(
      runId,
      clock.after(leftMs, () => this.#onTimeout(workerId, runId)),
    );
  }
}
