import { isTerminalRun } from '../../core/state/states.js';
import type { StoredEvent } from '../../core/events/index.js';
import type { EngineDeps } from './deps.js';

/** Watches how long runs take. */
export class RunWatch {
  readonly #deps: EngineDeps;
  readonly #onTimeout: (runId: string) => void;
  readonly #limits = new Map<string, () => void>();

  constructor(deps: EngineDeps, onTimeout: (runId: string) => void) {
    this.#deps = deps;
    this.#onTimeout = onTimeout;
  }

  /** Runs that began under an earlier supervisor have used up some of their time. */
  takeUp(): void {
    for (const run of this.#deps.store.runs(this.#deps.sessionId))
      if (run.started_at !== null && !isTerminalRun(run.state)) this.#limit(run.run_id);
  }

  onEvent(event: StoredEvent): void {
    const { run_id: runId = '' } = event;
    if (event.type === 'run.started') this.#limit(runId);
    // Nothing else changes the state of a run, and agents say much.
    const run = event.type.startsWith('run.') ? this.#deps.store.run(runId) : null;
    if (run !== null && isTerminalRun(run.state)) {
      this.#limits.get(runId)?.();
      this.#limits.delete(runId);
    }
  }

  close(): void {
    for (const cancel of this.#limits.values()) cancel();
    this.#limits.clear();
  }

  #limit(runId: string): void {
    const { store, clock } = this.#deps;
    const run = store.run(runId);
    const limit = run?.timeout_ms ?? null;
    const beganAt = run?.started_at ?? null;
    if (limit === null || beganAt === null || this.#limits.has(runId)) return;
    const leftMs = Math.max(0, Date.parse(beganAt) + limit - clock.now());
    this.#limits.set(
      runId,
      clock.after(leftMs, () => this.#onTimeout(runId)),
    );
  }
}
