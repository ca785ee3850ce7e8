import { within, type Clock } from '../../core/clock.js';
import { GrowingFile } from '../../platform/growing-file.js';
import { endProcesses, type Ended } from '../../platform/launch/end-processes.js';
import { watchLaunch, type LaunchWatch } from '../../platform/launch/launch-watch.js';
import type { Logger } from '../../platform/logger.js';
import { isAlive, type ProcessRef } from '../../platform/process-tree.js';
import { lastLinesOf } from '../../platform/tail.js';
import { watchDirectory } from '../../platform/watch.js';
import type { BackendEvent, Said, StartedAgent, TurnSpec } from '../contract.js';
import { READERS } from './formats/index.js';
import type { StreamReader } from './formats/reader.js';
import { keepWithoutSecrets, type TurnFiles } from './turn-files.js';
import { WholeWords } from './whole-words.js';

/** A longer line of output is passed over: it is no word of the protocol that we know. */
const LONGEST_LINE = 50 * 1024 * 1024;
/** After its last word a process has so long to end by itself. */
const LINGER_MS = 10_000;
/** One whose end nobody can tell us of is looked after so often. */
const LOOK_MS = 10_000;
const STATUS_LIMIT_MS = 1_000;
const TAIL_LINES = 20;

type Proof = NonNullable<Extract<Said, { said: 'prompt_taken' }>['proof']>;
const BY_ITS_WORD: Proof = { evidence: 'protocol', how: 'the agent said that its turn began' };

export interface TurnDeps {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly redact: ((text: string) => string) | null;
  emit(event: BackendEvent): void;
}

/** One process for one turn, from its start to when nothing of it is left. */
export class Turn {
  readonly spec: TurnSpec;
  /** Resolves with the proof that the agent has the text. */
  readonly taken: Promise<Proof>;
  /** Resolves when the process and all it started are gone and everything it said was told. */
  readonly over: Promise<void>;
  readonly #deps: TurnDeps;
  readonly #files: TurnFiles;
  readonly #watch: LaunchWatch;
  readonly #output: GrowingFile;
  readonly #reader: StreamReader;
  readonly #words: WholeWords | null;
  readonly #unwatch: () => void;
  #process: ProcessRef | null = null;
  /** Nothing that it says is told before somebody is there to hear it in its order. */
  readonly #heard: Promise<void>;
  #hear: () => void = () => undefined;
  #resolveTaken: (proof: Proof) => void = () => undefined;
  #resolveOver: () => void = () => undefined;
  #cancelTimer: () => void = () => undefined;
  #ending = false;
  #opened = false;

  constructor(deps: TurnDeps, spec: TurnSpec, files: TurnFiles) {
    this.#deps = deps;
    this.spec = spec;
    this.#files = files;
    this.#output = new GrowingFile(files.output, LONGEST_LINE);
    this.#reader = READERS[spec.format]();
    this.#words = deps.redact === null ? null : new WholeWords(deps.redact);
    this.taken = new Promise((resolve) => (this.#resolveTaken = resolve));
    this.over = new Promise((resolve) => (this.#resolveOver = resolve));
    this.#heard = new Promise((resolve) => (this.#hear = resolve));
    const warn = (problem: string) =>
      deps.logger.warn({ worker: spec.workerId, problem }, 'a turn cannot be watched');
    this.#watch = watchLaunch(files, warn);
    this.#unwatch = watchDirectory(
      spec.directory,
      (name) => {
        if (files.output.endsWith(`/${name}`)) this.#read();
      },
      (error) => warn(error.message),
    );
    void this.#watch.ended.then((status) => this.#end(status));
  }

  get started(): StartedAgent | null {
    const { workerId } = this.spec;
    return this.#process === null ? null : { workerId, paneId: null, window: null, ...this.#process };
  }

  /** Resolves with the process once it exists; null: its launcher ended before that. */
  async begin(limitMs: number): Promise<StartedAgent | null> {
    const { clock } = this.#deps;
    await this.#watch.check();
    const over = this.#watch.ended.then(() => null);
    this.#process ??= await within(clock, limitMs, Promise.race([this.#watch.started, over]), null);
    return this.started;
  }

  /** Its process runs and has the text: tells what that says by itself, and from here on what it says. */
  open(): void {
    if (this.#opened) return;
    this.#opened = true;
    this.#tell(this.#reader.atStart ?? []);
    this.#hear();
    this.#read();
  }

  /** Its launcher is gone, or was never ours: its end may come without a status. */
  lookAfter(): void {
    this.#cancelTimer();
    if (this.#ending) return;
    this.#read();
    if (this.#process === null || !isAlive(this.#process)) return void this.#endWithoutStatus();
    this.#cancelTimer = this.#deps.clock.after(LOOK_MS, () => this.lookAfter());
  }

  async stop(graceMs: number): Promise<Ended> {
    const { clock } = this.#deps;
    if (this.#process === null) this.#hear();
    else this.open();
    const target = { agent: this.#process, launcher: null, attemptId: this.spec.attemptId };
    const result = await endProcesses(target, { graceMs, clock });
    await this.#watch.check();
    await within(
      clock,
      STATUS_LIMIT_MS,
      this.#watch.ended.then(() => this.over),
      undefined,
    );
    if (result.verified) await this.#end(null);
    await within(clock, STATUS_LIMIT_MS, this.over, undefined);
    return result;
  }

  /** Leaves the process to whoever comes next. */
  leave(): void {
    this.#ending = true;
    this.#close();
  }

  async #endWithoutStatus(): Promise<void> {
    await this.#watch.check();
    const status = await within<number | null>(this.#deps.clock, STATUS_LIMIT_MS, this.#watch.ended, null);
    await this.#end(status);
  }

  async #end(status: number | null): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    const { clock, logger, redact, emit } = this.#deps;
    const { workerId, attemptId } = this.spec;
    const failed = (error: unknown) => logger.warn({ worker: workerId, err: error }, 'the end of a turn');
    // What it left running, in sessions of its own, would work on in the folder of the next turn.
    await endProcesses({ agent: this.#process, launcher: null, attemptId }, { graceMs: 0, clock }).catch(
      failed,
    );
    await this.#heard;
    await this.#output.read((line) => this.#line(line), { toEnd: true }).catch(failed);
    this.#close();
    const outputTail = await lastWords(this.#files).catch(() => '');
    emit({ type: 'turn_over', workerId, attemptId, status, outputTail });
    await keepWithoutSecrets(this.#files, redact).catch(failed);
    this.#resolveOver();
  }

  #close(): void {
    this.#cancelTimer();
    this.#watch.close();
    this.#unwatch();
  }

  #read(): void {
    if (!this.#opened) return;
    this.#output
      .read((line) => this.#line(line))
      .catch((error: unknown) =>
        this.#deps.logger.warn({ worker: this.spec.workerId, err: error }, 'output not read'),
      );
  }

  #line(line: string | null): void {
    const said: readonly Said[] =
      line === null
        ? [{ said: 'note', text: `a line of more than ${LONGEST_LINE} bytes was passed over` }]
        : this.#reader.line(line);
    this.#tell(said);
  }

  #tell(given: readonly Said[]): void {
    const said = this.#words?.take(given) ?? given;
    if (said.length === 0) return;
    const { workerId, attemptId } = this.spec;
    this.#deps.emit({ type: 'said', workerId, attemptId, said });
    const taken = said.find((one) => one.said === 'prompt_taken');
    if (taken !== undefined) this.#resolveTaken(taken.proof ?? BY_ITS_WORD);
    if (said.some(isLastWord)) this.#linger();
  }

  /** A process that has said its last word and does not end keeps its conversation from the next turn. */
  #linger(): void {
    this.#cancelTimer();
    if (!this.#ending) this.#cancelTimer = this.#deps.clock.after(LINGER_MS, () => void this.stop(1_000));
  }
}

/** What runs in the background still has the process to itself. */
function isLastWord(said: Said): boolean {
  return said.said === 'turn_failed' || (said.said === 'turn_ended' && said.goesOn !== true);
}

/** Of its standard error; where that is empty, of its output. */
async function lastWords(files: TurnFiles): Promise<string> {
  for (const file of [files.errors, files.output]) {
    const lines = await lastLinesOf(file, TAIL_LINES, { bytes: 65_536, lineBytes: 8_192 });
    if (lines.length > 0) return lines.join('\n');
  }
  return '';
}
