import type { ReportedOutcome } from '../../core/state/rows.js';
import type { Evidence } from '../../core/state/states.js';
import { fact, type EngineDeps } from './deps.js';
import { settleByReport } from './outcomes.js';
import type { WorkerRecord } from './worker-record.js';

/** A turn that does not end settles by what was reported after this. */
const SETTLE_CAP_MS = 1_000;

/** What is reported of the open run of one worker, until it settles by the best of it. */
export class Candidates {
  readonly #deps: EngineDeps;
  readonly #record: WorkerRecord;
  readonly #onSettled: () => void;
  #cancel: (() => void) | null = null;

  constructor(deps: EngineDeps, record: WorkerRecord, onSettled: () => void) {
    this.#deps = deps;
    this.#record = record;
    this.#onSettled = onSettled;
  }

  /** false when there is no run to report on. */
  take(report: Pick<ReportedOutcome, 'state' | 'summary'>, evidence: Evidence): boolean {
    const run = this.#record.openRun();
    if (run === null || run.state === 'queued') return false;
    const latest = run.reported.at(-1);
    if (latest?.state === report.state && latest.summary === report.summary && latest.evidence === evidence)
      return true;
    this.#record.append(
      fact('run.reported', this.#record.subject(run.run_id, evidence), { ...report, accepted: true }),
    );
    this.settleSoon();
    return true;
  }

  settleSoon(): void {
    this.#cancel ??= this.#deps.clock.after(SETTLE_CAP_MS, () => this.settle());
  }

  /** false when nothing was reported. */
  settle(): boolean {
    this.close();
    const worker = this.#record.worker();
    const run = this.#record.openRun();
    if (worker === null || run === null) return false;
    const settled = this.#deps.store.transaction((tx) => settleByReport(this.#deps, tx, worker, run));
    this.#onSettled();
    return settled;
  }

  close(): void {
    this.#cancel?.();
    this.#cancel = null;
  }
}
