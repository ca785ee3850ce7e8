import { findAgent, launchOf } from '../../agents/registry.js';
import type { TurnBackend } from '../../backends/contract.js';
import { delay, within, type Clock } from '../../core/clock.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import type { RunRow, WorkerRow } from '../../core/state/rows.js';
import { ensurePrivateDirectory } from '../../platform/files.js';
import type { Logger } from '../../platform/logger.js';
import type { LeaseOwner, Store } from '../../store/contract.js';
import { fact, openRun } from '../engine/deps.js';
import { Engine } from '../engine/engine.js';
import { beginsAnew } from '../engine/gap.js';
import type { Slots } from '../engine/slots.js';
import { findConversation, optionsOf } from './conversation-row.js';
import { OpenEngines, type OpenEngine } from './open-engines.js';
import { isProvidersFault } from './provider-fault.js';
import { conversationTurn, invocationOf, type Invocation, type TurnParts } from './turn-spec.js';

export interface ConversationsDeps extends TurnParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly owner: LeaseOwner;
  /** One pool for all of them. */
  readonly slots: Slots;
  readonly stallMs: number | null;
  readonly endsSilent: boolean;
  /** See EngineDeps. */
  cpuTime(pid: number): Promise<number | null>;
  newId(): string;
  createBackend(sessionId: string): TurnBackend;
}

const END_LIMIT_MS = 10_000;
/** Far more than it takes to weigh what an agent said last. */
const SETTLE_LIMIT_MS = 5_000;

/** The engines of the conversations that something is asked of, one each, over one pool. */
export class Conversations {
  readonly #deps: ConversationsDeps;
  readonly #open: OpenEngines;

  constructor(deps: ConversationsDeps) {
    this.#deps = deps;
    this.#open = new OpenEngines({
      clock: deps.clock,
      open: (sessionId) => this.#takeUp(sessionId),
      busy: () => new Set(deps.store.unfinishedSessions('conversation')),
      leave: (sessionId, open) => this.#leave(sessionId, open),
    });
  }

  /** What an earlier daemon left: turns that run are followed again, what waits goes on. */
  async recover(): Promise<void> {
    const { store, logger } = this.#deps;
    for (const sessionId of store.unfinishedSessions('conversation'))
      await this.engine(sessionId).catch((error: unknown) =>
        logger.error({ session: sessionId, err: error }, 'a conversation could not be taken up'),
      );
  }

  /** Throws SESSION_NOT_FOUND, SESSION_OWNED. */
  async engine(sessionId: string): Promise<Engine> {
    return (await this.#open.get(sessionId)).engine;
  }

  /** The agent of this worker calls us, until what is returned is called: whoever waits for an answer is not silent. */
  calling(sessionId: string, workerId: string): () => void {
    return this.#open.peek(sessionId)?.engine.calling(workerId) ?? (() => undefined);
  }

  /** How a turn of this worker would be started now; null: its agent is not to be found. */
  async invocation(worker: WorkerRow, runId: string): Promise<Invocation | null> {
    const session = findConversation(this.#deps.store, worker.session_id);
    return invocationOf(this.#deps, session, worker, runId).catch(() => null);
  }

  /**
   * Nothing begins any more. What runs has `graceMs` to end, or until `hurry`; then it is ended, and its run is
   * interrupted.
   */
  async drain(graceMs: number, hurry: AbortSignal): Promise<void> {
    const { slots, clock } = this.#deps;
    const drained = new AbortController();
    const limit = AbortSignal.any([hurry, drained.signal]);
    await Promise.race([slots.drain(), delay(clock, graceMs, limit)]);
    drained.abort();
    await within(clock, SETTLE_LIMIT_MS, this.#settled(), undefined);
    await within(clock, END_LIMIT_MS, this.#interruptAll(), undefined);
  }

  async close(): Promise<void> {
    const { store, owner } = this.#deps;
    for (const [sessionId, opening] of this.#open.all()) {
      const open = await opening.catch(() => null);
      open?.engine.close();
      await open?.backend.close({ destroy: false });
      store.releaseLease(sessionId, owner);
    }
    this.#open.clear();
  }

  #leave(sessionId: string, { engine, backend }: OpenEngine): void {
    const { store, owner, logger } = this.#deps;
    engine.close();
    store.releaseLease(sessionId, owner);
    backend
      .close({ destroy: false })
      .catch((error: unknown) => logger.warn({ session: sessionId, err: error }, 'not closed'));
  }

  async #takeUp(sessionId: string): Promise<OpenEngine> {
    const { store, owner } = this.#deps;
    findConversation(store, sessionId);
    const lease = store.acquireLease(sessionId, owner);
    if (!lease.acquired)
      throw new OrchestratorError('SESSION_OWNED', { session: sessionId, pid: lease.holder.pid });
    const backend = this.#deps.createBackend(sessionId);
    await backend.open();
    const engine = this.#engine(sessionId, backend);
    const workers = store.workers(sessionId);
    for (const worker of workers) {
      await ensurePrivateDirectory(this.#deps.workerDirectory(sessionId, worker.worker_id));
      engine.attach(worker, { takenOver: true });
    }
    await Promise.all(workers.map(({ worker_id: workerId }) => engine.takeUp(workerId)));
    return { engine, backend };
  }

  #engine(sessionId: string, backend: TurnBackend): Engine {
    const { store, clock, logger, slots, stallMs, endsSilent } = this.#deps;
    const engine: Engine = new Engine({
      ...{ sessionId, store, backend, clock, logger, slots, stallMs, endsSilent },
      newId: () => this.#deps.newId(),
      cpuTime: (pid) => this.#deps.cpuTime(pid),
      launch: ({ agent, backend: place }) => launchOf(findAgent(agent, this.#deps.agents.agents), place),
      turn: (worker) => (attemptId) => {
        const now = store.worker(sessionId, worker.worker_id) ?? worker;
        const runId = openRun(store, sessionId, worker.worker_id)?.run_id ?? null;
        return conversationTurn(this.#deps, findConversation(store, sessionId), now, { attemptId, runId });
      },
      outcomeBy: () => 'turn',
      // A model has done nothing but talk: it can be asked again.
      endsLost: (worker) => !this.#isModel(worker),
      agents: {
        of: () => findConversation(store, sessionId).worker_agents,
        isAtFault: isProvidersFault,
        isToldAll: (worker) => this.#isModel(worker),
      },
      workerDirectory: (workerId) => this.#deps.workerDirectory(sessionId, workerId),
      consents: (to) =>
        to === 'bypass' && optionsOf(findConversation(store, sessionId)).permissions === 'bypass',
      bringBack: (worker) => this.#bringBack(engine, worker),
      onLeadStuck: () => undefined,
      onEnded: () => undefined,
    });
    return engine;
  }

  #isModel({ agent }: WorkerRow): boolean {
    return this.#deps.agents.agents.find(({ name }) => name === agent)?.model !== undefined;
  }

  /** In the conversation that its agent named; where it named none, the next turn is told what was said. */
  #bringBack(engine: Engine, worker: WorkerRow): void {
    const { store, logger } = this.#deps;
    const { session_id: sessionId, worker_id: workerId } = worker;
    try {
      if (worker.thread_id === null && !beginsAnew({ store, sessionId }, workerId))
        store.append(
          fact(
            'thread.lost',
            {
              ...{ session_id: sessionId, worker_id: workerId },
              ...{ source: 'supervisor', evidence: 'process' },
            },
            { thread_id: '', reason: 'its agent named no conversation that a new process could go on with' },
          ),
        );
      engine.attach(worker);
      engine.pump(workerId);
    } catch (error) {
      logger.error({ session: sessionId, worker: workerId, err: error }, 'not brought back');
      const { code, message } = toOrchestratorError(error);
      const summary = `its agent could not be started again: ${message}`;
      engine.endOpenRuns(worker, { type: 'run.failed', summary, evidence: 'process', failureCode: code });
    }
  }

  /** Resolves when every run whose process is over has its outcome: an answer that was given is not lost to a stop. */
  #settled(): Promise<void> {
    const { store, slots } = this.#deps;
    const isUnsettled = ([sessionId]: [string, unknown]) =>
      this.#running(sessionId).some(({ run_id: runId }) => !slots.running.includes(runId));
    return new Promise((resolve) => {
      const look = () => {
        if (this.#open.all().some(isUnsettled)) return;
        unsubscribe();
        resolve();
      };
      const unsubscribe = store.subscribe(store.head(), look);
      look();
    });
  }

  async #interruptAll(): Promise<void> {
    const { logger } = this.#deps;
    const interrupt = async (sessionId: string, opening: Promise<OpenEngine>) => {
      const { engine } = await opening;
      const summary = 'agentd was stopped while it ran';
      for (const run of this.#running(sessionId))
        await engine.endRun(run, { type: 'run.interrupted', summary, evidence: 'process' });
    };
    await Promise.all(
      this.#open.all().map(([session, opening]) =>
        // One that fails is no reason not to wait for the others.
        interrupt(session, opening).catch((error: unknown) =>
          logger.warn({ session, err: error }, 'its runs could not be interrupted'),
        ),
      ),
    );
  }

  #running(sessionId: string): RunRow[] {
    const { store } = this.#deps;
    return store.workers(sessionId).flatMap(({ worker_id: workerId }) => {
      const run = openRun(store, sessionId, workerId);
      return run?.state === 'running' && run.executor === 'pool' ? [run] : [];
    });
  }
}
