import { join } from 'node:path';
import type { CommandResult, FrozenCommand } from '../../core/events/index.js';
import type { Clock } from '../../core/clock.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import type { SessionRow, VerificationRow } from '../../core/state/rows.js';
import type { Git } from '../../git/contract.js';
import type { Logger } from '../../platform/logger.js';
import { runShellCommand } from '../../platform/process.js';
import type { Store } from '../../store/contract.js';
import { fact, type FactSubject } from '../engine/deps.js';
import type { SessionPlaces } from '../places.js';

const COMMAND_TIMEOUT_MS = 20 * 60_000;
const TAIL_CHARS = 4_000;
const INTERRUPTED = 'interrupted: the supervisor that ran it ended; call verify again';

export interface VerifyDeps {
  readonly sessionId: string;
  readonly store: Store;
  readonly git: Git;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly places: SessionPlaces;
  readonly commandEnvironment: Readonly<Record<string, string>>;
  newId(): string;
}

/**
 * Verification as jobs keyed by commit: asking again while one runs joins it. Each runs the session's frozen commands in
 * a detached worktree of its own at exactly that commit, after the set-up commands.
 */
export class VerifyJobs {
  readonly #deps: VerifyDeps;
  readonly #running = new Map<string, Promise<VerificationRow>>();
  readonly #abort = new AbortController();

  constructor(deps: VerifyDeps) {
    this.#deps = deps;
  }

  /** The job of this commit: the running one, or a new one. */
  start(commit: string): { verifyId: string; finished: Promise<VerificationRow> } {
    const { store, sessionId } = this.#deps;
    const running = store
      .verifications(sessionId)
      .find((row) => row.state === 'running' && row.commit === commit && this.#running.has(row.verify_id));
    if (running !== undefined) return this.join(running.verify_id);
    const row = store.session(sessionId);
    if (row === null) throw new OrchestratorError('SESSION_NOT_FOUND', { session: sessionId });
    const verifyId = this.#deps.newId();
    store.append(
      fact('verify.started', this.#subject(), {
        verify_id: verifyId,
        commit,
        commands: row.verify_commands.map((entry) => entry.command),
      }),
    );
    const finished = this.#run(row, verifyId, commit).finally(() => this.#running.delete(verifyId));
    this.#running.set(verifyId, finished);
    return { verifyId, finished };
  }

  /** A job started before. Throws UNKNOWN_VERIFY. One that an earlier supervisor left unfinished is over as failed. */
  join(verifyId: string): { verifyId: string; finished: Promise<VerificationRow> } {
    const finished = this.#running.get(verifyId);
    if (finished !== undefined) return { verifyId, finished };
    const row = this.#deps.store.verification(verifyId);
    if (row === null || row.session_id !== this.#deps.sessionId)
      throw new OrchestratorError('UNKNOWN_VERIFY', { verify_id: verifyId });
    if (row.state === 'running') this.#fail(verifyId, row.commit, [], INTERRUPTED);
    return { verifyId, finished: Promise.resolve(this.#row(verifyId)) };
  }

  /** Ends the jobs that an earlier supervisor left, truthfully: nobody knows what they would have come to. */
  async takeUp(): Promise<void> {
    const { store, sessionId, git, logger, places } = this.#deps;
    const repository = store.session(sessionId)?.repository ?? '';
    for (const { verify_id: verifyId, state, commit } of store.verifications(sessionId)) {
      if (state === 'running') this.#fail(verifyId, commit, [], INTERRUPTED);
      const path = this.#worktreeOf(verifyId);
      await git
        .removeWorktree({ repository, path, trash: places.trash })
        .catch((error: unknown) => logger.warn({ path, err: error }, 'verify worktree not removed'));
    }
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await Promise.allSettled(this.#running.values());
  }

  async #run(row: SessionRow, verifyId: string, commit: string): Promise<VerificationRow> {
    if (row.verify_commands.length === 0) {
      this.#deps.store.append(
        fact('verify.passed', this.#subject(), {
          verify_id: verifyId,
          commit,
          results: [],
          nothing_to_verify: true,
        }),
      );
      return this.#row(verifyId);
    }
    const path = this.#worktreeOf(verifyId);
    try {
      await this.#deps.git.createWorktree({
        repository: row.repository,
        path,
        branch: null,
        commit,
        subdirectory: row.subdirectory,
      });
      await this.#deps.git.includeIgnored({ project: row.project, worktree: path });
      await this.#runCommands(row, verifyId, commit, path);
    } catch (thrown) {
      const error = toOrchestratorError(thrown);
      this.#deps.logger.warn({ verify_id: verifyId, code: error.code, err: error.cause }, error.message);
      this.#fail(verifyId, commit, [], error.message);
    } finally {
      await this.#deps.git
        .removeWorktree({ repository: row.repository, path, trash: this.#deps.places.trash })
        .catch((error: unknown) =>
          this.#deps.logger.warn({ path, err: error }, 'verify worktree not removed'),
        );
    }
    return this.#row(verifyId);
  }

  async #runCommands(row: SessionRow, verifyId: string, commit: string, path: string): Promise<void> {
    const results: CommandResult[] = [];
    for (const entry of [...row.setup_commands, ...row.verify_commands]) {
      const result = await this.#runCommand(entry, join(path, row.subdirectory));
      results.push(result);
      if (result.exit_code !== 0)
        return this.#fail(verifyId, commit, results, `${entry.label}: ${this.#howItEnded(result)}`);
    }
    this.#deps.store.append(
      fact('verify.passed', this.#subject(), {
        verify_id: verifyId,
        commit,
        results,
        nothing_to_verify: false,
      }),
    );
  }

  async #runCommand(entry: FrozenCommand, cwd: string): Promise<CommandResult> {
    const result = await runShellCommand(entry.command, {
      cwd,
      env: this.#deps.commandEnvironment,
      timeoutMs: COMMAND_TIMEOUT_MS,
      tailChars: TAIL_CHARS,
      signal: this.#abort.signal,
    });
    return {
      label: entry.label,
      command: entry.command,
      exit_code: result.exitCode,
      ...(result.exitCode === null && this.#abort.signal.aborted ? { stopped: true } : {}),
      duration_ms: result.durationMs,
      tail: result.tail,
    };
  }

  #worktreeOf(verifyId: string): string {
    return join(this.#deps.places.worktrees, `verify-${verifyId.slice(-8)}`);
  }

  #howItEnded({ command, exit_code, stopped }: CommandResult): string {
    if (stopped === true) return 'it was stopped: the session ends';
    return `"${command}" ended with ${exit_code ?? 'a time-out'}`;
  }

  #fail(verifyId: string, commit: string, results: CommandResult[], reason: string): void {
    this.#deps.store.append(
      fact('verify.failed', this.#subject(), { verify_id: verifyId, commit, results, reason }),
    );
  }

  #row(verifyId: string): VerificationRow {
    const row = this.#deps.store.verification(verifyId);
    if (row === null) throw new Error(`verification ${verifyId} has no row`);
    return row;
  }

  #subject(): FactSubject {
    return { session_id: this.#deps.sessionId, source: 'supervisor', evidence: 'process' };
  }
}
