import type { BackendEvent } from '../../backends/contract.js';
import { durationWords } from '../../core/duration.js';
import type { StoredEvent } from '../../core/events/index.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import type { RunSign } from '../../core/state/states.js';
import { fact, openRun, type EngineDeps, type FactSubject } from './deps.js';
import { noticesFor } from './notices.js';

/** So much of the time on a processor is work; an agent that only redraws a clock uses less. */
const BUSY_SHARE = 0.01;
/** Of an agent that is there; the end of one is no sign of life. */
const SIGNS: readonly BackendEvent['type'][] = ['said', 'state', 'sentinels', 'output'];
const LINES_READ = 40;
const LINE_MOST = 200;

interface CpuReading {
  readonly attemptId: string;
  readonly at: number;
  readonly usedMs: number;
}

interface Watched {
  /** Its last sign. */
  signAt: number;
  /** Whether its run was told of as silent before we watched it is not known yet. */
  isNew: boolean;
  cpu: CpuReading | null;
  cancel: () => void;
}

/**
 * Notices agents that are in a turn and give no sign: no output, no hook, no call of our tools, no CPU time of their
 * processes. Told once for each time of silence, and when it ends. One timer for each agent at work, which looks twice
 * in the stall time at most; nothing is done for agents that rest.
 */
export class StallWatch {
  readonly #deps: EngineDeps;
  readonly #onTooLong: (run: RunRow, quietMs: number) => void;
  readonly #watched = new Map<string, Watched>();
  /** Calls of our tools that are not answered yet: whoever waits for us is not silent. */
  readonly #calls = new Map<string, number>();

  /** `onTooLong`: where silent runs are ended. */
  constructor(deps: EngineDeps, onTooLong: (run: RunRow, quietMs: number) => void) {
    this.#deps = deps;
    this.#onTooLong = onTooLong;
  }

  onEvent({ type, worker_id: workerId = '' }: StoredEvent): void {
    if (type !== 'run.started' && type !== 'worker.working') return;
    this.begin(workerId);
    this.sign(workerId, 'output');
  }

  onBackendEvent(event: BackendEvent): void {
    if ('workerId' in event && SIGNS.includes(event.type)) this.sign(event.workerId, 'output');
  }

  /** Its agent is at work. */
  begin(workerId: string): void {
    const { clock, stallMs } = this.#deps;
    if (stallMs === null || this.#watched.has(workerId)) return;
    const watched: Watched = { signAt: clock.now(), isNew: true, cpu: null, cancel: () => undefined };
    this.#watched.set(workerId, watched);
    this.#lookAfter(workerId, watched, stallMs / 2);
  }

  /** Its agent said, showed, asked or did something. */
  sign(workerId: string, sign: RunSign): void {
    const watched = this.#watched.get(workerId);
    if (watched === undefined) return;
    const { clock, stallMs } = this.#deps;
    const quietMs = clock.now() - watched.signAt;
    watched.signAt = clock.now();
    // Agents say much; a silence too short to be told of has no end to tell either.
    if (!watched.isNew && quietMs < (stallMs ?? 0)) return;
    watched.isNew = false;
    const run = this.#atWork(workerId);
    if (run !== null && run.stalled_since !== null) {
      const quiet_ms = Math.max(0, clock.now() - Date.parse(run.stalled_since));
      this.#tell(run, (subject) => fact('run.moved', subject, { sign, quiet_ms }), {
        evidence: sign === 'protocol' ? 'protocol' : 'process',
        notice: `moves again after ${durationWords(quiet_ms)}`,
      });
    }
  }

  /** It calls one of our tools, until what is returned is called. */
  calling(workerId: string): () => void {
    const count = (by: number) => this.#calls.set(workerId, (this.#calls.get(workerId) ?? 0) + by);
    count(1);
    this.sign(workerId, 'protocol');
    return () => {
      count(-1);
      this.sign(workerId, 'protocol');
    };
  }

  close(): void {
    for (const { cancel } of this.#watched.values()) cancel();
    this.#watched.clear();
  }

  #lookAfter(workerId: string, watched: Watched, delayMs: number): void {
    watched.cancel = this.#deps.clock.after(Math.ceil(delayMs), () => {
      this.#look(workerId, watched).catch((error: unknown) =>
        this.#deps.logger.warn({ worker: workerId, err: error }, 'not known whether it moves'),
      );
    });
  }

  async #look(workerId: string, watched: Watched): Promise<void> {
    const { clock, stallMs } = this.#deps;
    const run = this.#atWork(workerId);
    if (run === null || stallMs === null) return void this.#watched.delete(workerId);
    const [before, now] = [watched.cpu, await this.#cpu(run)];
    if (this.#watched.get(workerId) !== watched) return;
    watched.cpu = now;
    if (isBusy(before, now)) this.sign(workerId, 'cpu');
    if ((this.#calls.get(workerId) ?? 0) > 0) this.sign(workerId, 'protocol');
    const quietMs = clock.now() - watched.signAt;
    const isMeasured = before !== null || now === null;
    if (quietMs >= stallMs && isMeasured) await this.#stalled(workerId, watched);
    if (this.#watched.get(workerId) !== watched) return;
    this.#lookAfter(workerId, watched, Math.max(stallMs / 2, stallMs - quietMs));
  }

  async #stalled(workerId: string, watched: Watched): Promise<void> {
    const { backend, clock } = this.#deps;
    const { signAt } = watched;
    const text = await backend.read(workerId, LINES_READ).catch(() => '');
    const run = this.#atWork(workerId);
    if (run === null || watched.signAt !== signAt) return;
    const [quiet_ms, since, last_line] = [
      clock.now() - signAt,
      new Date(signAt).toISOString(),
      lastLine(text),
    ];
    if (run.stalled_since === null)
      this.#tell(run, (subject) => fact('run.stalled', subject, { quiet_ms, since, last_line }), {
        evidence: 'silence',
        notice: stallNotice(quiet_ms, last_line),
      });
    if (this.#deps.endsSilent === true) this.#onTooLong(run, quiet_ms);
  }

  /** Both at once, so that neither is lost without the other. */
  #tell(
    run: RunRow,
    event: (subject: FactSubject) => ReturnType<typeof fact>,
    { evidence, notice }: Pick<FactSubject, 'evidence'> & { notice: string },
  ): void {
    const { store, sessionId } = this.#deps;
    const subject: FactSubject = {
      ...{ session_id: sessionId, worker_id: run.worker_id, run_id: run.run_id },
      ...{ source: 'supervisor', evidence },
    };
    store.transaction((tx) => {
      const worker = tx.worker(sessionId, run.worker_id);
      const about = run.worker_id;
      const text = `${about} (${worker?.perspective ?? ''}) ${notice}`;
      const notices = worker?.role === 'worker' ? noticesFor(this.#deps, tx, { about, text, evidence }) : [];
      tx.append(event(subject), ...notices);
    });
  }

  /** The run that its agent is at now. */
  #atWork(workerId: string): RunRow | null {
    const { store, sessionId } = this.#deps;
    const run = openRun(store, sessionId, workerId);
    const isWorking = isInTurn(store.worker(sessionId, workerId), run);
    return isWorking ? run : null;
  }

  /** null: the process is not known, or cannot be measured. */
  async #cpu(run: RunRow): Promise<CpuReading | null> {
    const { store, sessionId, clock } = this.#deps;
    const attempt = store.attempts(sessionId).find(({ attempt_id: id }) => id === run.attempt_id);
    const pid = attempt?.pid ?? null;
    if (attempt === undefined || pid === null || attempt.state === 'ended') return null;
    const usedMs = await this.#deps.cpuTime(pid).catch(() => null);
    return usedMs === null ? null : { attemptId: attempt.attempt_id, at: clock.now(), usedMs };
  }
}

function isInTurn(worker: WorkerRow | null, run: RunRow | null): boolean {
  return worker?.state === 'working' && run?.state === 'running' && run.started_at !== null;
}

/** Less than before is a sign too: something that it had started is over. */
function isBusy(before: CpuReading | null, now: CpuReading | null): boolean {
  if (before === null || now === null || before.attemptId !== now.attemptId) return false;
  const used = now.usedMs - before.usedMs;
  return used < 0 || (used > 0 && used >= (now.at - before.at) * BUSY_SHARE);
}

function lastLine(text: string): string {
  const last = text.split('\n').findLast((line) => /[\p{L}\p{N}]/u.test(line)) ?? '';
  return last.trim().slice(0, LINE_MOST);
}

function stallNotice(quietMs: number, line: string): string {
  return [
    `gives no sign for ${durationWords(quietMs)}: no output, no call, no CPU time.`,
    ...(line === '' ? [] : [`Its last line: ${line}`]),
    'It may wait for something slow, or hang: look with read_worker_output.',
    'kill_worker ends it and keeps its work; a message then brings it back.',
  ].join(' ');
}
