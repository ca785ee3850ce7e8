import type { Clock } from '../../core/clock.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import { inviteToTerminal, type TerminalGuest } from '../../platform/foreground.js';
import { endProcesses } from '../../platform/launch/end-processes.js';
import { agentEnvironment, type EnvironmentRules } from '../../platform/launch/environment.js';
import { ATTEMPT_VARIABLE, checkStartable } from '../../platform/launch/launcher.js';
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
  StartSpec,
  StopResult,
  TurnBackend,
} from '../contract.js';

export interface ForegroundBackendOptions extends EnvironmentRules {
  /** The user's environment; the agent starts with what the rules leave of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
}

/**
 * One agent on the terminal of this very process: it inherits it, and the person has it to themselves. Nothing is read
 * from it or typed into it: the first text is an argument of the agent, which begins when that text is due.
 */
export function createForegroundBackend(options: ForegroundBackendOptions): TurnBackend {
  return new ForegroundBackend(options);
}

interface Guest {
  readonly spec: StartSpec;
  readonly terminal: TerminalGuest;
  hasBegun: boolean;
}

class ForegroundBackend implements TurnBackend {
  readonly name = 'foreground';
  readonly #options: ForegroundBackendOptions;
  readonly #listeners: Listeners<BackendEvent>;
  #guest: Guest | null = null;
  /** Resolves when the end of the last one was told. */
  #told: Promise<void> = Promise.resolve();

  constructor(options: ForegroundBackendOptions) {
    this.#options = options;
    this.#listeners = new Listeners(options.logger);
  }

  async open(): Promise<{ socket: null; live: readonly LiveAgent[] }> {
    return { socket: null, live: [] };
  }

  async start(spec: StartSpec): Promise<StartedAgent> {
    const { workerId, attemptId } = spec;
    const fail = (problem: string, cause?: unknown) =>
      new OrchestratorError('SPAWN_FAILED', { worker: workerId, problem }, { cause });
    if (this.#guest !== null) throw fail('the terminal is given to another agent');
    const { realCwd: cwd } = await checkStartable(spec);
    const inherited = agentEnvironment(this.#options.env, this.#options);
    const own = { ...inherited, ...spec.env, [ATTEMPT_VARIABLE]: attemptId };
    const terminal = await inviteToTerminal(spec.argv, { env: own, cwd }).catch((error: unknown) => {
      throw fail(toOrchestratorError(error).message, error);
    });
    this.#guest = { spec, terminal, hasBegun: false };
    this.#told = terminal.ended.then((status) => this.#over(spec, status));
    const { pid, pidStartedAt } = terminal.process;
    return { workerId, paneId: null, window: null, pid, pidStartedAt };
  }

  /** Its proof is its own word; where it has no word for that, the text on its command line. */
  async send(
    _workerId: string,
    text: string,
    { observer, confirmation, signal }: SendOptions,
  ): Promise<Delivery> {
    const guest = this.#guest;
    if (guest === null || guest.hasBegun)
      return { outcome: 'refused', reason: 'nobody can type on its terminal but the person who sits there' };
    if (signal?.aborted === true) return { outcome: 'refused', reason: 'cancelled' };
    guest.hasBegun = true;
    observer.typed(Buffer.byteLength(text));
    guest.terminal.begin();
    const gone = guest.terminal.ended.then((): Delivery => ({ outcome: 'unconfirmed', screen: '' }));
    if (guest.spec.launch.hooks === null || confirmation === undefined)
      return { outcome: 'submitted', evidence: 'process', how: 'its program was started with this text' };
    return Promise.race([gone, confirmation.then((proof): Delivery => ({ outcome: 'submitted', ...proof }))]);
  }

  async stop(_workerId: string, { graceMs }: { graceMs: number }): Promise<StopResult> {
    const guest = this.#guest;
    if (guest === null) return { verified: true, survivors: [] };
    const { attemptId } = guest.spec;
    const target = { agent: guest.terminal.process, launcher: null, attemptId };
    const stopped = await endProcesses(target, { graceMs, clock: this.#options.clock });
    await this.#told;
    return stopped;
  }

  onEvent(listener: (event: BackendEvent) => void): () => void {
    return this.#listeners.add(listener);
  }

  /** The terminal goes with us, and so does the agent. */
  async close(): Promise<void> {
    await this.stop('', { graceMs: 500 });
  }

  // What follows has no meaning on a terminal that is the person's own, or is never asked for.

  async ready(): Promise<void> {}
  async read(): Promise<string> {
    return '';
  }
  async answer(): Promise<Answered> {
    return { outcome: 'refused', reason: 'it is answered on its own terminal' };
  }
  async interrupt(): Promise<void> {}
  async label(): Promise<void> {}
  async status(): Promise<void> {}
  async bell(): Promise<void> {}
  async releaseViewers(): Promise<void> {}
  async reflow(): Promise<Reflowed> {
    return { perWindow: 1, windows: 0, placed: [] };
  }
  adopt(): Promise<StartedAgent> {
    throw new Error('an agent on a terminal of another process cannot be taken over');
  }
  async adoptTurn(): Promise<AdoptedTurn | null> {
    return null;
  }
  async lookBack(): Promise<PastAgent> {
    const end = { kind: 'lost', reason: 'its terminal was given back' } as const;
    return { started: true, end, outputTail: '', sentinels: [] };
  }

  /** Nothing of it outlives the run: neither it nor the tools it left running. */
  async #over({ workerId, attemptId }: StartSpec, status: number): Promise<void> {
    const { clock, logger } = this.#options;
    await endProcesses({ agent: null, launcher: null, attemptId }, { graceMs: 0, clock }).catch(
      (error: unknown) =>
        logger.warn({ worker: workerId, err: error }, 'what it left running could not be ended'),
    );
    this.#guest = null;
    this.#listeners.emit({ type: 'exited', workerId, attemptId, status, outputTail: '' });
  }
}
