import type { Clock } from '../../core/clock.js';
import { toOrchestratorError } from '../../core/errors/error.js';
import { ensurePrivateDirectory, removeTree, writeFileAtomic } from '../../platform/files.js';
import { endProcesses } from '../../platform/launch/end-processes.js';
import { agentEnvironment, type EnvironmentRules } from '../../platform/launch/environment.js';
import { checkStartable, launchScript } from '../../platform/launch/launcher.js';
import { spawnApart } from '../../platform/launch/spawn.js';
import { Listeners } from '../../platform/listeners.js';
import type { Logger } from '../../platform/logger.js';
import type {
  AdoptedTurn,
  Answered,
  BackendEvent,
  Delivery,
  LiveAgent,
  PastAgent,
  Reflowed,
  SendOptions,
  StartedAgent,
  StopResult,
  TurnBackend,
  TurnSpec,
  TurnStart,
} from '../contract.js';
import { Rendering } from './rendering.js';
import { lastSaid, logFile, turnFiles } from './turn-files.js';
import { Turn } from './turn.js';

const START_LIMIT_MS = 20_000;

export interface HeadlessBackendOptions extends EnvironmentRules {
  /** The user's environment; agents start with what the rules leave of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Private folder of a worker. */
  workerDirectory(workerId: string): string;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Applied to what is kept of an agent's output; absent: it stays as it is. */
  readonly redact?: (text: string) => string;
}

/** Drives agents without a terminal: a process per turn, which outlives us and is found again by its files. */
export function createHeadlessBackend(options: HeadlessBackendOptions): TurnBackend {
  return new HeadlessBackend(options);
}

class HeadlessBackend implements TurnBackend {
  readonly name = 'headless';
  readonly #options: HeadlessBackendOptions;
  readonly #listeners: Listeners<BackendEvent>;
  readonly #turns = new Map<string, Turn>();
  readonly #renderings = new Map<string, Rendering>();

  constructor(options: HeadlessBackendOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.logger);
  }

  async open(): Promise<{ socket: null; live: readonly LiveAgent[] }> {
    return { socket: null, live: [] };
  }

  /** One turn after the other for each worker. */
  async send(workerId: string, text: string, options: SendOptions): Promise<Delivery> {
    const running = this.#turns.get(workerId);
    if (running !== undefined && options.earlier?.state === 'typed') return outcome(running, options);
    await running?.over;
    if (options.turn === undefined) throw new Error(`a text for ${workerId} without a process to take it`);
    if (options.signal?.aborted === true) return { outcome: 'refused', reason: 'cancelled' };
    const turn = await this.#start(options.turn, text);
    if (turn === null) return { outcome: 'refused', reason: 'its process could not be started' };
    options.observer.typed(Buffer.byteLength(text));
    turn.open();
    return outcome(turn, options);
  }

  async adoptTurn(spec: TurnSpec): Promise<AdoptedTurn | null> {
    const { clock } = this.#options;
    const files = turnFiles(spec.directory, spec.workerId, spec.attemptId);
    const turn = this.#turn(spec);
    if ((await turn.begin(0)) === null) {
      // Its launcher may have been on the way: either it has begun by now, or it never will.
      await endProcesses({ agent: null, launcher: null, attemptId: spec.attemptId }, { graceMs: 0, clock });
      if ((await turn.begin(0)) === null) {
        turn.leave();
        this.#turns.delete(spec.workerId);
        for (const file of Object.values<string>({ ...files })) await removeTree(file);
        return null;
      }
    }
    const { started } = turn;
    const follow = () => {
      turn.open();
      turn.lookAfter();
    };
    return started === null ? null : { started, follow };
  }

  async stop(workerId: string, { graceMs }: { graceMs: number }): Promise<StopResult> {
    return (await this.#turns.get(workerId)?.stop(graceMs)) ?? { verified: true, survivors: [] };
  }

  async interrupt(workerId: string): Promise<void> {
    await this.stop(workerId, { graceMs: 4_000 });
  }

  read(workerId: string, lines: number): Promise<string> {
    return lastSaid(this.#options.workerDirectory(workerId), workerId, lines);
  }

  onEvent(listener: (event: BackendEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  async close({ destroy }: { destroy: boolean }): Promise<void> {
    const turns = [...this.#turns.values()];
    if (destroy) await Promise.all(turns.map((turn) => turn.stop(500)));
    else for (const turn of turns) turn.leave();
    await Promise.all([...this.#renderings.values()].map((rendering) => rendering.close()));
  }

  // What follows has no meaning without a place that people look at.

  start(): Promise<StartedAgent> {
    throw new Error('an agent without a terminal begins with its first turn');
  }
  adopt(): Promise<StartedAgent> {
    throw new Error('an agent without a terminal is taken over by its turn');
  }
  async ready(): Promise<void> {}
  async lookBack(): Promise<PastAgent> {
    return { started: false, end: { kind: 'exited', status: null }, outputTail: '', sentinels: [] };
  }
  async answer(): Promise<Answered> {
    return { outcome: 'changed', shown: null };
  }
  async label(): Promise<void> {}
  async status(): Promise<void> {}
  async bell(): Promise<void> {}
  async releaseViewers(): Promise<void> {}
  async reflow(): Promise<Reflowed> {
    return { perWindow: 1, windows: 0, placed: [] };
  }

  async #start({ spec, began }: TurnStart, text: string): Promise<Turn | null> {
    const files = turnFiles(spec.directory, spec.workerId, spec.attemptId);
    let turn: Turn | null = null;
    try {
      const { realCwd } = await checkStartable(spec);
      await ensurePrivateDirectory(spec.directory);
      await writeFileAtomic(files.input, text);
      const streams = { input: files.input, output: files.output, errors: files.errors };
      await writeFileAtomic(
        files.script,
        launchScript(spec, { files, realCwd, without: ['TMUX', 'TMUX_PANE'], streams, stays: false }),
        0o700,
      );
      turn = this.#turn(spec);
      const inherited = agentEnvironment(this.#options.env, this.#options);
      const launcher = await spawnApart(files.script, { env: inherited, cwd: realCwd });
      const started = await turn.begin(START_LIMIT_MS);
      if (started === null) throw new Error('its launcher ended before its process began');
      began(started);
      void launcher.ended.then(() => turn?.lookAfter());
      return turn;
    } catch (error) {
      const { message } = toOrchestratorError(error);
      await turn?.stop(0);
      if (turn === null) {
        const { workerId, attemptId } = spec;
        this.#emit({ type: 'turn_over', workerId, attemptId, status: null, outputTail: message });
      }
      this.#options.logger.warn({ worker: spec.workerId, err: error }, 'a turn could not be started');
      return null;
    }
  }

  #turn(spec: TurnSpec): Turn {
    const { clock, logger, redact = null } = this.#options;
    const { workerId } = spec;
    const files = turnFiles(spec.directory, workerId, spec.attemptId);
    const turn = new Turn({ clock, logger, redact, emit: (event) => this.#emit(event) }, spec, files);
    this.#turns.set(workerId, turn);
    void turn.over.then(() => {
      if (this.#turns.get(workerId) === turn) this.#turns.delete(workerId);
    });
    return turn;
  }

  #emit(event: BackendEvent): void {
    if (event.type === 'said') this.#rendering(event.workerId).say(event.said);
    this.#listeners.emit(event);
  }

  #rendering(workerId: string): Rendering {
    const known = this.#renderings.get(workerId);
    if (known !== undefined) return known;
    const file = logFile(this.#options.workerDirectory(workerId), workerId);
    const rendering = new Rendering(file, this.#options.logger);
    this.#renderings.set(workerId, rendering);
    return rendering;
  }
}

/** Once its process runs a text is carried to an outcome. */
async function outcome(turn: Turn, options: SendOptions): Promise<Delivery> {
  const word = turn.taken.then((proof): Delivery => ({ outcome: 'submitted', ...proof }));
  const proof = options.confirmation?.then((given): Delivery => ({ outcome: 'submitted', ...given }));
  const gone = turn.over.then((): Delivery => ({
    outcome: 'refused',
    reason: 'its process ended before it said that it has it',
  }));
  return Promise.race(proof === undefined ? [word, gone] : [word, proof, gone]);
}
