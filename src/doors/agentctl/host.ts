import type { Clock } from '../../core/clock.js';
import type { Preflight } from '../../services/gateway/preflight/preflight.js';
import type { Shell } from '../shared/completion/script.js';

export type Environment = Readonly<Record<string, string | undefined>>;

/** Which daemon is meant, as the person said. */
export interface Target {
  readonly url: string;
  /** null: the one that the daemon of this machine made itself, which the host finds. */
  readonly token: string | null;
}

export interface DaemonRequest {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** With query. */
  readonly path: string;
  readonly body?: unknown;
  /** undefined: as long as it takes. */
  readonly limitMs?: number;
  readonly signal?: AbortSignal;
}

export interface StopAnswer {
  readonly stopped: boolean;
  readonly was_running: boolean;
  readonly pid: number | null;
}

/** What the command line needs of its surroundings; `main/agentctl-host.ts` is the real one. */
export interface AgentctlHost {
  readonly env: Environment;
  readonly clock: Clock;
  readonly version: string;
  readonly stdoutIsTty: boolean;
  out(text: string): void;
  err(text: string): void;
  /** All of standard input. */
  readStdin(): Promise<string>;
  /** Aborts on INT or TERM, which have their usual effect until it is asked for. */
  interrupted(): AbortSignal;
  /** Throws what the daemon answered, DAEMON_UNREACHABLE, DAEMON_STALE. */
  call(target: Target, request: DaemonRequest): Promise<Record<string, unknown>>;
  /** Throws what is wrong with the person's own agents. */
  completionScript(shell: Shell): Promise<string>;
  readonly daemon: {
    /** Throws what agentd said, DAEMON_NOT_STARTED. */
    start(target: Target, options: StartOptions): Promise<Record<string, unknown>>;
    /** What `start` with these would find. Throws USAGE. */
    preflight(target: Target, options: StartOptions): Promise<Preflight>;
    /** Resolves when it is gone, or after `limitMs`. `now`: what runs gets no time. Throws DAEMON_NOT_OURS. */
    stop(target: Target, options: { limitMs: number; now: boolean }): Promise<StopAnswer>;
    /** Throws BACKUP_EXISTS, STORE_UNAVAILABLE. */
    backup(target: Target, options: BackupOptions): Promise<Record<string, unknown>>;
    /** The last lines, oldest first. Throws NO_DAEMON_LOG. */
    logs(target: Target, lines: number): Promise<readonly string[]>;
    /** Those, then each that comes, until the signal aborts. Throws NO_DAEMON_LOG. */
    followLogs(target: Target, lines: number, reader: LineReader): Promise<void>;
  };
}

export interface BackupOptions {
  readonly file: string;
  /** null: the one of the daemon that is meant. */
  readonly database: string | null;
}

export interface LineReader {
  onLine(line: string): void;
  readonly signal: AbortSignal;
}

export interface StartOptions {
  /** What agentd is started with. */
  readonly args: readonly string[];
  /** The address was given: agentd is to listen there. */
  readonly isUrlGiven: boolean;
}
