import type { Clock } from '../../core/clock.js';
import { isTerminalRun } from '../../core/state/states.js';
import type { RunRow } from '../../core/state/rows.js';
import type { Store } from '../../store/contract.js';
import { waitLimitMs, type CallContext } from '../operation.js';

/** How often who waits is told that we are alive. */
const PROGRESS_EVERY_MS = 15_000;

interface Waiter {
  readonly runId: string;
  readonly until: number;
  readonly finish: () => void;
  readonly tell: () => void;
}

/** Everybody who waits for a run, on one subscription and one timer. */
export class RunWaits {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #waiters = new Map<string, Set<Waiter>>();
  readonly #unsubscribe: () => void;
  #timer: { readonly at: number; cancel(): void } | null = null;
  #tellAt = Infinity;

  constructor(store: Store, clock: Clock) {
    this.#store = store;
    this.#clock = clock;
    this.#unsubscribe = store.subscribe(store.head(), ({ run_id: runId }) => {
      if (runId !== undefined && this.#waiters.has(runId) && this.#rests(runId)) this.#finishAll(runId);
    });
  }

  /**
   * Resolves when the run is over or waits for somebody, when the time is up (what was asked for, or what the caller's
   * client allows), or when the caller is gone. Tells progress meanwhile.
   */
  async wait(runId: string, askedMs: number, call: CallContext): Promise<void> {
    const { caller, signal, progress } = call;
    const timeoutMs = waitLimitMs(caller, askedMs);
    if (this.#rests(runId) || timeoutMs <= 0 || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const waiter: Waiter = {
        runId,
        until: this.#clock.now() + timeoutMs,
        finish: () => {
          this.#remove(waiter);
          signal.removeEventListener('abort', waiter.finish);
          resolve();
        },
        tell: () => progress(`run ${runId} is ${this.#store.run(runId)?.state ?? 'not known'}`),
      };
      if (this.#waiters.size === 0) this.#tellAt = this.#clock.now() + PROGRESS_EVERY_MS;
      signal.addEventListener('abort', waiter.finish, { once: true });
      this.#waiters.set(runId, (this.#waiters.get(runId) ?? new Set()).add(waiter));
      this.#wakeAt(Math.min(waiter.until, this.#tellAt));
    });
  }

  close(): void {
    this.#unsubscribe();
    for (const runId of [...this.#waiters.keys()]) this.#finishAll(runId);
    this.#timer?.cancel();
    this.#timer = null;
  }

  #rests(runId: string): boolean {
    const run = this.#store.run(runId);
    return run === null || restsNow(run);
  }

  #finishAll(runId: string): void {
    for (const waiter of this.#waiters.get(runId) ?? []) waiter.finish();
  }

  #remove(waiter: Waiter): void {
    const others = this.#waiters.get(waiter.runId);
    others?.delete(waiter);
    if (others?.size === 0) this.#waiters.delete(waiter.runId);
  }

  #wakeAt(at: number): void {
    if (this.#timer !== null && this.#timer.at <= at) return;
    this.#timer?.cancel();
    const cancel = this.#clock.after(Math.max(0, at - this.#clock.now()), () => this.#wake());
    this.#timer = { at, cancel };
  }

  #wake(): void {
    this.#timer = null;
    const now = this.#clock.now();
    const isTold = this.#tellAt <= now;
    if (isTold) this.#tellAt = now + PROGRESS_EVERY_MS;
    let next = Infinity;
    for (const waiters of [...this.#waiters.values()])
      for (const waiter of [...waiters]) {
        if (waiter.until <= now) waiter.finish();
        else {
          next = Math.min(next, waiter.until, this.#tellAt);
          if (isTold) waiter.tell();
        }
      }
    if (next !== Infinity) this.#wakeAt(next);
  }
}

/** It goes on only when somebody says something to it, or never. */
function restsNow(run: RunRow): boolean {
  return run.state === 'waiting' || isTerminalRun(run.state);
}
