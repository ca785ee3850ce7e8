import type { Clock } from '../../core/clock.js';
import { errorBody, toOrchestratorError } from '../../core/errors/error.js';
import type { AskModel, ModelTurn } from '../../llm/contract.js';
import { Listeners } from '../../platform/listeners.js';
import type { Logger } from '../../platform/logger.js';
import type {
  AdoptedTurn,
  BackendEvent,
  Delivery,
  Said,
  SendOptions,
  StopResult,
  TurnBackend,
  TurnSpec,
} from '../contract.js';

const PROOF = { evidence: 'protocol', how: 'the model began to answer' } as const;
const NOTHING_LEFT: StopResult = { verified: true, survivors: [] };

export interface EmbeddedBackendOptions {
  readonly ask: AskModel;
  readonly clock: Clock;
  readonly logger: Logger;
}

interface Asking {
  readonly abort: AbortController;
  /** Resolves when everything of it was told. */
  over: Promise<void>;
}

/** `processes` for agents that are programs; those that are models are asked here, and what they say is told alike. */
export function withModels(processes: TurnBackend, options: EmbeddedBackendOptions): TurnBackend {
  const listeners = new Listeners<BackendEvent>(options.logger);
  processes.onEvent((event) => listeners.emit(event));
  const models = new Models(options, (event) => listeners.emit(event));
  return {
    ...delegated(processes),
    send: (workerId, text, send) =>
      send.turn?.spec.model === undefined
        ? processes.send(workerId, text, send)
        : models.send(workerId, text, send, send.turn.spec.model),
    // What a model was saying went with the process that listened to it.
    adoptTurn: (spec): Promise<AdoptedTurn | null> =>
      spec.model === undefined ? processes.adoptTurn(spec) : Promise.resolve(null),
    stop: (workerId, stop) => models.stop(workerId) ?? processes.stop(workerId, stop),
    interrupt: async (workerId) => {
      await (models.stop(workerId) ?? processes.interrupt(workerId));
    },
    onEvent: (listener) => listeners.add(listener),
    async close(close) {
      await models.close();
      await processes.close(close);
    },
  };
}

function delegated(
  processes: TurnBackend,
): Omit<TurnBackend, 'send' | 'adoptTurn' | 'stop' | 'interrupt' | 'onEvent' | 'close'> {
  return {
    name: processes.name,
    open: () => processes.open(),
    start: (spec) => processes.start(spec),
    ready: (...given) => processes.ready(...given),
    adopt: (...given) => processes.adopt(...given),
    lookBack: (attempt) => processes.lookBack(attempt),
    answer: (...given) => processes.answer(...given),
    read: (...given) => processes.read(...given),
    label: (...given) => processes.label(...given),
    status: (text) => processes.status(text),
    reflow: (terminal) => processes.reflow(terminal),
    bell: () => processes.bell(),
    releaseViewers: (...given) => processes.releaseViewers(...given),
  };
}

class Models {
  readonly #options: EmbeddedBackendOptions;
  readonly #emit: (event: BackendEvent) => void;
  readonly #asking = new Map<string, Asking>();

  constructor(options: EmbeddedBackendOptions, emit: (event: BackendEvent) => void) {
    this.#options = options;
    this.#emit = emit;
  }

  async send(workerId: string, text: string, options: SendOptions, model: ModelTurn): Promise<Delivery> {
    await this.#asking.get(workerId)?.over;
    const { turn, signal, observer } = options;
    if (turn === undefined || signal?.aborted === true) return { outcome: 'refused', reason: 'cancelled' };
    turn.began(null);
    observer.typed(Buffer.byteLength(text));
    return new Promise((resolve) => {
      const asking: Asking = { abort: new AbortController(), over: Promise.resolve() };
      const taken = () => resolve({ outcome: 'submitted', ...PROOF });
      this.#asking.set(workerId, asking);
      asking.over = this.#run(turn.spec, model, text, { asking, taken }).then(() => {
        if (this.#asking.get(workerId) === asking) this.#asking.delete(workerId);
        resolve({ outcome: 'refused', reason: 'the model did not begin to answer' });
      });
    });
  }

  /** null: it is asked nothing. */
  stop(workerId: string): Promise<StopResult> | null {
    const asking = this.#asking.get(workerId);
    if (asking === undefined) return null;
    asking.abort.abort();
    return asking.over.then(() => NOTHING_LEFT);
  }

  async close(): Promise<void> {
    const all = [...this.#asking.values()];
    for (const { abort } of all) abort.abort();
    await Promise.all(all.map(({ over }) => over));
  }

  async #run(
    { workerId, attemptId }: TurnSpec,
    { place, history, threadId }: ModelTurn,
    text: string,
    { asking, taken }: { asking: Asking; taken: () => void },
  ): Promise<void> {
    const { ask, clock, logger } = this.#options;
    const { signal } = asking.abort;
    const say = (...said: Said[]) => this.#emit({ type: 'said', workerId, attemptId, said });
    const over = (status: number | null, outputTail: string) =>
      this.#emit({ type: 'turn_over', workerId, attemptId, status, outputTail });
    let isTaken = false;
    try {
      say({ said: 'thread', threadId });
      const answer = await ask({
        ...{ place, signal, clock, messages: [...history, { role: 'user', text }] },
        onTaken() {
          isTaken = true;
          say({ said: 'prompt_taken', proof: PROOF });
          taken();
        },
        onText: (piece) => say({ said: 'text', text: piece, delta: true }),
        onWait: (reason, ms) => say({ said: 'note', text: `asked again in ${ms} ms: ${reason}` }),
      });
      const { inputTokens, outputTokens } = answer;
      say(
        { said: 'text', text: answer.text, delta: false },
        { said: 'usage', inputTokens, outputTokens, costUsd: null },
        { said: 'turn_ended', text: answer.text },
      );
      over(0, '');
    } catch (error) {
      if (signal.aborted) return over(null, '');
      const { message } = errorBody(toOrchestratorError(error));
      logger.info({ worker: workerId, problem: message }, 'a model did not answer');
      // Before it had the text, its end says why.
      if (isTaken) say({ said: 'turn_failed', text: message, kind: null });
      over(1, message);
    }
  }
}
