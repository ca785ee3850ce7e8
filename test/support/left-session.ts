import { createHash } from 'node:crypto';
import {
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import type { EventData, EventName } from '../../src/core/events/index.js';
import type { SessionState, WorkerState } from '../../src/core/state/states.js';
import { callInProcess } from '../../src/main/session-in-process.js';
import { systemClock } from '../../src/platform/clock.js';
import { resolvePaths } from '../../src/platform/paths.js';
import { fact } from '../../src/services/engine/deps.js';
import type { CleanReport } from '../../src/services/supervise/clean-report.js';
import type { SalvagedItem } from '../../src/services/supervise/salvaged-work.js';
import type { Store } from '../../src/store/contract.js';
import { openStore } from '../../src/store/open-store.js';
import { createGitWorld, type GitWorld, type TestRepo } from './repo.js';
import { SAMPLES } from './sample-events.js';

export interface LeftTree extends TestRepo {
  readonly workerId: string;
  readonly branch: string;
}

/** A session whose supervisor is gone, as rows and real worktrees, in a home of its own. */
export class LeftSession {
  readonly world: GitWorld;
  readonly repo: TestRepo;
  readonly sessionId: string;
  readonly store: Store;
  base = '';
  integration: TestRepo;
  #repository: string;

  private constructor(world: GitWorld, repo: TestRepo, sessionId: string) {
    this.world = world;
    this.repo = repo;
    this.sessionId = sessionId;
    this.integration = repo;
    this.#repository = repo.repository;
    this.store = openStore({ path: this.paths.database, clock: systemClock });
  }

  static async create(
    options: {
      world?: GitWorld;
      repo?: TestRepo;
      sessionId?: string;
      project?: string;
      includeChanges?: boolean;
    } = {},
  ): Promise<LeftSession> {
    const world = options.world ?? createGitWorld();
    const session = new LeftSession(world, options.repo ?? world.repo(), options.sessionId ?? '0123abcd');
    await session.#begin(options);
    return session;
  }

  get env() {
    return this.world.sandbox.env;
  }

  get paths() {
    return resolvePaths(this.env);
  }

  /** Where ignored files of a worker are kept. */
  kept(...names: string[]): string {
    return join(this.paths.data, 'sessions', this.sessionId, 'salvage', ...names);
  }

  get worktrees(): string {
    return join(this.paths.data, 'worktrees', 'project', this.sessionId);
  }

  get tempFolder(): string {
    return join(this.world.sandbox.temp, `agentorchestr-${this.sessionId}`);
  }

  get dataFolder(): string {
    return join(this.paths.data, 'sessions', this.sessionId);
  }

  async #begin({ project = this.repo.path, includeChanges = false }): Promise<void> {
    const { git } = this.world;
    const facts = await git.inspectProject(project);
    const made = await git.prepareBase({
      facts,
      sessionId: this.sessionId,
      includeChanges,
      fetch: false,
      importRoot: join(this.paths.data, 'imported'),
    });
    this.base = made.commit;
    this.#repository = made.repository;
    this.#append('session.created', {
      ...SAMPLES['session.created'],
      project: facts.project,
      base_commit: made.commit,
      base_statement: made.statement,
      repository: made.repository,
      options: { plan: { include_changes: includeChanges }, imported: made.imported, branch: facts.branch },
    });
    const branch = `agentorchestr/${this.sessionId}/integration`;
    const path = join(this.worktrees, 'integration');
    await git.createWorktree({ repository: made.repository, path, branch, commit: made.commit });
    this.integration = this.world.at(path);
    for (const folder of [this.tempFolder, this.dataFolder]) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, 'private.txt'), 'x'.repeat(5_000));
    }
    this.#append('session.updated', {
      directory: this.tempFolder,
      integration_branch: branch,
      integration_worktree: path,
    });
    this.#worker('lead', { role: 'lead', branch: null, worktree: path });
  }

  async worker(workerId: string, state: WorkerState = 'exited'): Promise<LeftTree> {
    const path = join(this.worktrees, workerId);
    const branch = `agentorchestr/${this.sessionId}/implementer-${workerId}`;
    await this.world.git.createWorktree({ repository: this.#repository, path, branch, commit: this.base });
    this.#worker(workerId, { role: 'worker', branch, worktree: path });
    const states: Partial<Record<WorkerState, EventName>> = {
      idle: 'worker.idle',
      working: 'worker.working',
      waiting: 'worker.waiting',
      exited: 'worker.exited',
      lost: 'worker.lost',
    };
    const event = states[state];
    if (event !== undefined) this.#append(event, SAMPLES[event], workerId);
    this.#append('thread.opened', { thread_id: `thread-${workerId}` }, workerId);
    return { ...this.world.at(path), workerId, branch };
  }

  #worker(workerId: string, made: Pick<EventData<'worker.created'>, 'role' | 'branch' | 'worktree'>): void {
    this.#append(
      'worker.created',
      { ...SAMPLES['worker.created'], ...made, base_commit: this.base },
      workerId,
    );
  }

  /** As the lead does: merged into the integration branch. */
  async integrate(tree: LeftTree): Promise<string> {
    const commit = tree.git('rev-parse', 'HEAD');
    const result = await this.world.git.integrate({
      repository: this.#repository,
      worktree: this.integration.path,
      commit,
      base: this.base,
      strategy: 'merge',
      message: `Integrate ${tree.workerId}`,
    });
    if (!result.merged) throw new Error('it conflicts');
    const data = { ...SAMPLES['branch.integrated'], branch: tree.branch, worker: tree.workerId };
    this.#append('branch.integrated', { ...data, worker_commit: commit, integration_commit: result.commit });
    return result.commit;
  }

  end(state: Exclude<SessionState, 'active'>, more: { applied?: string } = {}): void {
    if (state === 'paused') this.#append('session.paused', { reason: 'asked' });
    else this.#append('session.ended', { state, summary: 'over', ...more });
  }

  /** A run of the worker is under way, as one process. */
  attempt(workerId: string, attemptId: string): void {
    const ofRun = { session_id: this.sessionId, worker_id: workerId, run_id: `run-${workerId}` };
    const of = { ...ofRun, source: 'supervisor', evidence: 'process' } as const;
    this.store.append(
      fact('message.accepted', of, { ...SAMPLES['message.accepted'], message_id: `message-${workerId}` }),
      fact('run.queued', of, { ...SAMPLES['run.queued'], message_id: `message-${workerId}` }),
      fact('run.started', of, { ...SAMPLES['run.started'], attempt_id: attemptId }),
    );
  }

  #append<Name extends EventName>(type: Name, data: EventData<Name>, workerId?: string): void {
    const subject = {
      session_id: this.sessionId,
      ...(workerId === undefined ? {} : { worker_id: workerId }),
      source: 'supervisor',
      evidence: 'process',
    } as const;
    this.store.append(fact(type, subject, data));
  }

  async call(operation: string, input: Record<string, unknown> = {}, reads = false) {
    return callInProcess(this.env, this.sessionId, { operation, input, reads });
  }

  async clean(input: { dry_run?: boolean; give_up?: boolean } = {}): Promise<CleanReport> {
    return (await this.call('clean', input)) as CleanReport;
  }

  async salvaged(): Promise<readonly SalvagedItem[]> {
    const answer = await this.call('list_salvage', {}, true);
    return answer['salvaged'] as readonly SalvagedItem[];
  }

  restore(input: { work: string; to?: string; branch?: string }) {
    return this.call('restore_salvage', input);
  }

  /** Git throws away whatever nothing names. */
  collectGarbage(repo: TestRepo = this.repo): void {
    repo.git('reflog', 'expire', '--expire=now', '--all');
    repo.git('gc', '--quiet', '--prune=now');
  }

  async close(): Promise<void> {
    this.store.close();
    rmSync(this.tempFolder, { recursive: true, force: true });
    await this.world.close();
  }
}

/** Every file of a folder as mode and content; what is git's and ours is left out. */
export function contents(root: string, below = root): Record<string, string> {
  const found: Record<string, string> = {};
  for (const entry of readdirSync(below, { withFileTypes: true })) {
    const path = join(below, entry.name);
    if (entry.name === '.git' || entry.name === '.agentorchestr') continue;
    if (entry.isDirectory()) Object.assign(found, contents(root, path));
    else found[relative(root, path)] = describe(path);
  }
  return found;
}

function describe(path: string): string {
  const info = lstatSync(path);
  if (info.isSymbolicLink()) return `link ${readlinkSync(path)}`;
  const hash = createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, 16);
  return `${(info.mode & 0o100) === 0 ? 'file' : 'executable'} ${hash}`;
}
