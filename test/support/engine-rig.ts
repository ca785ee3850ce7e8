import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { mkdir, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { HookFact, HookRules, Launch, PasteRules } from '../../src/agents/contract.js';
import { scripted } from '../../src/agents/scripted.js';
import { LEAD_ID } from '../../src/core/ids.js';
import type { EventName, NewEvent, StoredEvent } from '../../src/core/events/index.js';
import type { MessageRow, RunRow, WorkerRow } from '../../src/core/state/rows.js';
import { silentLogger } from '../../src/platform/logger.js';
import { fact, type EngineDeps, type FactSubject, type ProcessEnd } from '../../src/services/engine/deps.js';
import { Engine } from '../../src/services/engine/engine.js';
import { noticesFor } from '../../src/services/engine/notices.js';
import { Slots } from '../../src/services/engine/slots.js';
import { acceptInstruction, type AcceptedInstruction } from '../../src/services/engine/instruct.js';
import type { Store } from '../../src/store/contract.js';
import { openStore } from '../../src/store/open-store.js';
import { createFakeClock, type FakeClock } from './fake-clock.js';
import { FakeBackend } from './fake-backend.js';
import { sampleEvent, SESSION } from './sample-events.js';

export interface EngineRigOptions {
  /** null: an agent without hooks. */
  readonly hooks?: HookRules | null;
  readonly paste?: PasteRules;
  readonly stallMs?: number;
  readonly endsSilent?: boolean;
  readonly outcomeBy?: 'report' | 'turn';
}

/** Hook bodies are the facts themselves. */
export const PLAIN_HOOKS: HookRules = {
  tellsFailures: true,
  translate: (body) => body as readonly HookFact[],
  threadId: () => null,
  continueTurn: (reason) => ({ goOn: reason }),
  permissionAnswer: (allow, message) => ({ allow, message }),
};

/** The run engine over the real store, with a pane and a clock that the test plays. */
export class EngineRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'ao-engine-'));
  readonly clock: FakeClock = createFakeClock();
  backend = new FakeBackend();
  readonly store: Store;
  engine: Engine;
  deps: EngineDeps;
  readonly ended: { workerId: string; how: ProcessEnd }[] = [];
  readonly broughtBack: string[] = [];
  stuck = 0;
  /** CPU time of every agent; null: not known. */
  cpuMs: number | null = 0;
  /** Aborting it is the agent hanging up on its hook calls. */
  hungUp = new AbortController();
  #ids = 0;

  constructor(options: EngineRigOptions = {}) {
    const { hooks = PLAIN_HOOKS, paste } = options;
    this.store = openStore({ path: join(this.folder, 'state.db'), clock: this.clock });
    this.store.append(sampleEvent('session.created'), this.#created(LEAD_ID));
    this.deps = {
      sessionId: SESSION,
      store: this.store,
      backend: this.backend,
      clock: this.clock,
      logger: silentLogger,
      newId: () => `id-${++this.#ids}`,
      launch: () => launchWith(hooks, paste),
      turn: () => null,
      slots: new Slots(99),
      outcomeBy: () => options.outcomeBy ?? 'report',
      stallMs: options.stallMs ?? null,
      endsSilent: options.endsSilent ?? false,
      cpuTime: async () => this.cpuMs,
      workerDirectory: (workerId) => join(this.folder, workerId),
      consents: (to) => to === 'trust',
      bringBack: (worker) => this.broughtBack.push(worker.worker_id),
      onLeadStuck: () => this.stuck++,
      onEnded: (workerId, how) => this.ended.push({ workerId, how }),
    };
    this.engine = new Engine(this.deps);
  }

  /** A worker whose process has just started; its first instruction is on its way to it. */
  async start(workerId: string, task = `task of ${workerId}`): Promise<void> {
    if (workerId !== LEAD_ID) this.store.append(this.#created(workerId));
    const { worktree } = this.worker(workerId);
    for (const folder of [worktree, this.deps.workerDirectory(workerId)])
      await mkdir(folder, { recursive: true });
    const { runId } = this.instruct(workerId, task, 'task');
    this.#launch(workerId, runId, `attempt-${workerId}`);
    await this.until('the first text on its way', () => this.backend.isSending(workerId));
  }

  /** The process that a worker is brought back by has come up. */
  async cameBack(workerId: string): Promise<void> {
    const { run_id: runId, attempts } = this.run(workerId);
    this.#launch(workerId, runId, `attempt-${workerId}-${attempts + 1}-${runId}`);
    await this.until('a text on its way', () => this.backend.isSending(workerId));
  }

  #launch(workerId: string, runId: string, attempt_id: string): void {
    this.beginProcess(workerId, runId, attempt_id);
    this.store.append(fact('worker.ready', this.subject(workerId), { attempt_id }));
    this.engine.pump(workerId);
  }

  /** It is there, and does not take input yet. */
  beginProcess(workerId: string, runId: string, attempt_id: string): void {
    const attempt = this.run(workerId).attempts + 1;
    this.store.append(
      fact('run.started', this.subject(workerId, runId), { attempt, attempt_id, new_process: true }),
    );
    const process = { pid: 1, pid_started_at: '1' };
    const place = { pane_id: '%1', window: '@0' };
    this.store.append(fact('worker.started', this.subject(workerId), { attempt_id, ...place, ...process }));
    this.engine.attach(this.worker(workerId));
  }

  /** The lead is always there, if only as a row: it is who notices are for. */
  #created(workerId: string): NewEvent {
    const role = workerId === LEAD_ID ? 'lead' : 'worker';
    const perspective = role === 'lead' ? 'lead' : 'implementer';
    const worktree = join(this.folder, `tree-${workerId}`);
    return sampleEvent('worker.created', { role, worktree, perspective }, { worker_id: workerId });
  }

  /** A worker in the turn of its first instruction. */
  async working(workerId: string, task?: string): Promise<RunRow> {
    await this.start(workerId, task);
    await this.take(workerId);
    return this.run(workerId);
  }

  /** The agent takes what is being sent to it and begins a turn. */
  async take(workerId: string): Promise<void> {
    await this.until('a text on its way', () => this.backend.isSending(workerId));
    this.backend.sending(workerId).submitted();
    await this.calm();
    this.backend.state(workerId, 'working');
  }

  /** What the lead is told. */
  newsFor(about: string, text: string): NewEvent[] {
    return noticesFor(this.deps, this.store, { about, text, evidence: 'protocol' });
  }

  /** The supervisor dies, and another one stands in its place that has not taken anything up yet. */
  die(): void {
    this.engine.close();
    this.backend = new FakeBackend();
    this.deps = { ...this.deps, backend: this.backend };
    this.engine = new Engine(this.deps);
  }

  async takeUp(workerId: string): Promise<void> {
    this.engine.attach(this.worker(workerId), { takenOver: true });
    await this.settledBy(this.engine.takeUp(workerId));
  }

  /** Lets the clock pass what the work waits for. */
  async settledBy(work: Promise<unknown>): Promise<void> {
    let over = false;
    const done = work.finally(() => (over = true));
    for (let rounds = 0; !over && rounds < 1_000; rounds++) {
      await this.calm();
      if (!over) await this.clock.advance(10);
    }
    await done;
    await this.calm();
  }

  /** The file in which the worker's agent keeps its conversation; its hooks have named it. */
  transcript(workerId: string, ...lines: readonly object[]): void {
    const path = join(this.folder, `${workerId}.jsonl`);
    appendFileSync(path, lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
    if (this.worker(workerId).transcript_path === path) return;
    const opened = { thread_id: 'thread', transcript_path: path };
    this.store.append(fact('thread.opened', this.subject(workerId), opened));
  }

  instruct(workerId: string, text: string, kind: 'task' | 'follow_up' = 'follow_up'): AcceptedInstruction {
    return this.store.transaction((tx) =>
      acceptInstruction(this.deps, tx, this.worker(workerId), { kind, text, sender: 'lead', source: 'mcp' }),
    );
  }

  hook(workerId: string, ...facts: HookFact[]): Promise<unknown> {
    return this.engine.hook(workerId, facts, this.hungUp.signal);
  }

  /** The agent's hook says that its turn is over; resolves with the answer for the agent. */
  async endTurn(workerId: string, text = ''): Promise<unknown> {
    const answer = this.hook(workerId, { fact: 'turn_ended', text });
    await this.calm();
    await this.clock.advance(250);
    return answer;
  }

  subject(workerId: string, runId?: string): FactSubject {
    return {
      session_id: SESSION,
      worker_id: workerId,
      source: 'supervisor',
      evidence: 'process',
      ...(runId === undefined ? {} : { run_id: runId }),
    };
  }

  worker(workerId: string): WorkerRow {
    return must(this.store.worker(SESSION, workerId), workerId);
  }

  /** The last run. */
  run(workerId: string): RunRow {
    return must(this.store.runs(SESSION, workerId).at(-1), `a run of ${workerId}`);
  }

  messages(workerId: string): MessageRow[] {
    return this.store.messages(SESSION, workerId);
  }

  /** [kind, state] of every message but notices. */
  receipts(workerId: string): [string, string][] {
    return this.messages(workerId)
      .filter(({ kind }) => kind !== 'notice')
      .map(({ kind, state }) => [kind, state]);
  }

  /** Texts of all notices, told or not. */
  notices(): string[] {
    return this.messages(LEAD_ID)
      .filter(({ kind }) => kind === 'notice')
      .map(({ text }) => text);
  }

  events(): StoredEvent[] {
    return this.store.events({ after: 0, sessionId: SESSION, limit: 10_000 });
  }

  count(type: EventName, workerId?: string): number {
    return this.events().filter(
      (event) => event.type === type && (workerId === undefined || event.worker_id === workerId),
    ).length;
  }

  /** Files have been read, promises have run: what was set off is done, as far as it needs no clock. */
  async calm(): Promise<void> {
    for (let round = 0; round < 6; round++) {
      await stat(this.folder);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  async until(what: string, condition: () => boolean, limitMs = 5_000): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (!condition()) {
      if (Date.now() > deadline) throw new Error(`${what}: not within ${limitMs} ms`);
      await this.calm();
    }
  }

  /** Rebuilding the rows from the log must agree, whatever the test did. */
  async close(): Promise<void> {
    this.engine.close();
    await this.calm();
    const differences = this.store.verifyRebuild();
    this.store.close();
    rmSync(this.folder, { recursive: true });
    if (differences.length > 0) throw new Error(`rows differ from the log: ${differences.join(', ')}`);
  }
}

function launchWith(hooks: HookRules | null, paste?: PasteRules): Launch {
  const { interactive } = scripted;
  if (interactive === null) throw new Error('the scripted agent cannot be started');
  return { ...interactive, hooks, ...(paste === undefined ? {} : { paste }) };
}

function must<T>(value: T | null | undefined, what: string): T {
  if (value === null || value === undefined) throw new Error(`there is no ${what}`);
  return value;
}
