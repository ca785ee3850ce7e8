import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
  existsSync,
  readdirSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { scripted } from '../../src/agents/scripted.js';
import type { HeadlessLaunch } from '../../src/agents/contract.js';
import type { TurnSpec } from '../../src/backends/contract.js';
import { createHeadlessBackend } from '../../src/backends/headless/backend.js';
import type { EventName, StoredEvent } from '../../src/core/events/index.js';
import type { RunRow, WorkerRow } from '../../src/core/state/rows.js';
import { systemClock } from '../../src/platform/clock.js';
import { newId } from '../../src/platform/ids.js';
import { silentLogger, type Logger } from '../../src/platform/logger.js';
import { cpuTimeOf } from '../../src/platform/process-tree.js';
import type { EngineDeps } from '../../src/services/engine/deps.js';
import { Engine } from '../../src/services/engine/engine.js';
import { acceptInstruction, type AcceptedInstruction } from '../../src/services/engine/instruct.js';
import { Slots } from '../../src/services/engine/slots.js';
import type { Store } from '../../src/store/contract.js';
import { openStore } from '../../src/store/open-store.js';
import { attemptsLeft } from './attempts-left.js';
import { sampleEvent, SESSION } from './sample-events.js';
import { scriptedContext } from './scripted-context.js';

const LIMIT_MS = 20_000;

/** Faults of ours are not lost in a test. */
const logger = {
  ...silentLogger,
  error: (about: { err?: unknown }, what: string) =>
    void process.stderr.write(`${what}: ${String(about.err)}\n`),
} as unknown as Logger;

export interface HeadlessRigOptions {
  readonly script: string;
  readonly format?: 'stream-json' | 'thread-jsonl';
  readonly slots?: number;
  readonly stallMs?: number;
  readonly env?: Readonly<Record<string, string>>;
  /** Another program that speaks the format, in place of the scripted agent. */
  readonly argv?: readonly string[];
  /** A worker whose program is not there. */
  readonly broken?: string;
}

/** The run engine over real processes without terminals: the scripted agent, the real store, the real clock. */
export class HeadlessRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'ao-headless-'));
  readonly options: HeadlessRigOptions;
  readonly store: Store;
  readonly attempts: string[] = [];
  deps: EngineDeps;
  engine: Engine;

  constructor(options: HeadlessRigOptions) {
    this.options = options;
    writeFileSync(join(this.folder, 'script.yaml'), options.script);
    this.store = openStore({ path: join(this.folder, 'state.db'), clock: systemClock });
    this.store.append(sampleEvent('session.created'));
    this.deps = this.#newDeps();
    this.engine = new Engine(this.deps);
  }

  #newDeps(): EngineDeps {
    const workerDirectory = (workerId: string) => join(this.folder, 'workers', workerId);
    const backend = createHeadlessBackend({
      env: { PATH: process.env['PATH'], HOME: this.folder, ...this.options.env },
      guardVariables: [],
      ownPrefixes: [],
      workerDirectory,
      clock: systemClock,
      logger,
    });
    return {
      sessionId: SESSION,
      store: this.store,
      backend,
      clock: systemClock,
      logger,
      newId,
      launch: () => scripted.headless,
      turn: (worker) => (attemptId) => this.#spec(worker.worker_id, attemptId),
      slots: new Slots(this.options.slots ?? 99),
      outcomeBy: () => 'turn',
      stallMs: this.options.stallMs ?? null,
      cpuTime: cpuTimeOf,
      workerDirectory,
      consents: () => true,
      bringBack: (worker) => {
        this.engine.attach(worker);
        this.engine.pump(worker.worker_id);
      },
      onLeadStuck: () => undefined,
      onEnded: () => undefined,
    };
  }

  /** A worker and its first instruction. */
  spawn(workerId: string, task: string, more: Partial<RunOptions> = {}): AcceptedInstruction {
    const worktree = join(this.folder, `tree-${workerId}`);
    mkdirSync(worktree, { recursive: true });
    mkdirSync(this.deps.workerDirectory(workerId), { recursive: true, mode: 0o700 });
    this.store.append(
      sampleEvent(
        'worker.created',
        { role: 'worker', worktree, backend: 'headless', agent: 'scripted' },
        { worker_id: workerId },
      ),
    );
    this.engine.attach(this.worker(workerId));
    return this.send(workerId, task, more);
  }

  send(workerId: string, text: string, more: Partial<RunOptions> = {}): AcceptedInstruction {
    return this.store.transaction((tx) =>
      acceptInstruction(this.deps, tx, this.worker(workerId), {
        ...{ kind: 'task', text, sender: 'person', source: 'cli' },
        ...more,
      }),
    );
  }

  worker(workerId: string): WorkerRow {
    const row = this.store.worker(SESSION, workerId);
    if (row === null) throw new Error(`no worker ${workerId}`);
    return row;
  }

  run({ runId }: { runId: string }): RunRow {
    const row = this.store.run(runId);
    if (row === null) throw new Error(`no run ${runId}`);
    return row;
  }

  events(workerId?: string): StoredEvent[] {
    return this.store.events({
      after: 0,
      sessionId: SESSION,
      limit: 100_000,
      ...(workerId === undefined ? {} : { workerId }),
    });
  }

  types(workerId: string): EventName[] {
    return this.events(workerId).map(({ type }) => type);
  }

  async until(what: string, condition: () => boolean, limitMs = LIMIT_MS): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (!condition()) {
      if (Date.now() > deadline)
        throw new Error(
          `waited in vain for ${what}:\n${this.events()
            .map(({ type, worker_id: id, data }) => `${id} ${type} ${JSON.stringify(data).slice(0, 160)}`)
            .join('\n')}\n${this.errors()}`,
        );
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  over(accepted: { runId: string }): Promise<void> {
    const done = ['succeeded', 'blocked', 'failed', 'timed_out', 'cancelled', 'interrupted'];
    return this.until(`the end of run ${accepted.runId}`, () => done.includes(this.run(accepted).state));
  }

  /** The process that drives everything is gone at once; its agents go on. */
  die(): void {
    this.engine.close();
    void this.deps.backend.close({ destroy: false });
  }

  /** Another one takes its place. */
  async takeUp(): Promise<void> {
    this.deps = this.#newDeps();
    this.engine = new Engine(this.deps);
    for (const worker of this.store.workers(SESSION)) this.engine.attach(worker, { takenOver: true });
    await Promise.all(this.store.workers(SESSION).map(({ worker_id: id }) => this.engine.takeUp(id)));
  }

  /** Every prompt that a process was really started with, oldest first. */
  prompts(workerId: string): string[] {
    return this.attemptsOf(workerId).map((attempt) =>
      readFileSync(join(this.deps.workerDirectory(workerId), `${workerId}.${attempt}.in`), 'utf8'),
    );
  }

  attemptsOf(workerId: string): string[] {
    return this.events(workerId).flatMap(({ type, data }) =>
      type === 'run.started' && data.new_process ? [data.attempt_id] : [],
    );
  }

  leftovers(): Promise<number> {
    return attemptsLeft(
      this.events().flatMap(({ type, data }) => (type === 'run.started' ? [data.attempt_id] : [])),
    );
  }

  async close(): Promise<void> {
    await this.deps.backend.close({ destroy: true });
    this.engine.close();
    this.store.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  errors(): string {
    const folder = join(this.folder, 'workers');
    return (existsSync(folder) ? readdirSync(folder) : [])
      .flatMap((worker) => readdirSync(join(folder, worker)).map((name) => join(folder, worker, name)))
      .filter((file) => file.endsWith('.err'))
      .map((file) => readFileSync(file, 'utf8'))
      .join('\n');
  }

  async #spec(workerId: string, attemptId: string): Promise<TurnSpec> {
    this.attempts.push(attemptId);
    const launch = scripted.headless as HeadlessLaunch;
    const directory = this.deps.workerDirectory(workerId);
    const worker = this.worker(workerId);
    const context = await scriptedContext({
      ...{ directory, worktree: worker.worktree, resumeThreadId: worker.thread_id },
      extra: { script: join(this.folder, 'script.yaml'), format: this.options.format ?? 'stream-json' },
    });
    return {
      ...{ workerId, attemptId, directory, cwd: worker.worktree, role: 'worker', label: workerId },
      ...{
        argv:
          workerId === this.options.broken ? ['/nowhere/agent'] : (this.options.argv ?? launch.argv(context)),
        env: { TOKEN: 't' },
      },
      ...{ launch, format: launch.format(context) },
    };
  }
}

export interface RunOptions {
  readonly timeoutMs: number;
  readonly retries: number;
  readonly parentRunId: string;
  readonly fallbacks: readonly string[];
}
