import type { Clock } from '../../core/clock.js';
import { createMutex } from '../../platform/locks.js';

/** Calls `work` every `everyMs` after its last end, and within `soonMs` when asked to; never twice at a time. */
export class Schedule {
  private readonly options: { clock: Clock; everyMs: number; soonMs: number; work: () => Promise<void> };
  private readonly oneAtATime = createMutex();
  private cancelNext: () => void = () => undefined;
  private cancelSoon: (() => void) | null = null;
  private closed = false;

  constructor(options: { clock: Clock; everyMs: number; soonMs: number; work: () => Promise<void> }) {
    this.options = options;
    this.arm();
  }

  soon(): void {
    if (this.closed) return;
    this.cancelSoon ??= this.options.clock.after(this.options.soonMs, () => {
      this.cancelSoon = null;
      void this.run();
    });
  }

  close(): void {
    this.closed = true;
    this.cancelNext();
    this.cancelSoon?.();
  }

  private arm(): void {
    this.cancelNext = this.options.clock.after(this.options.everyMs, () => {
      void this.run().finally(() => {
        if (!this.closed) this.arm();
      });
    });
  }

  private run(): Promise<void> {
    return this.oneAtATime(async () => {
      if (!this.closed) await this.options.work();
    });
  }
}
