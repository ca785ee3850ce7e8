import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import type { Clock } from '../../core/clock.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { systemClock } from '../../platform/clock.js';
import { createControlParser } from './control-parser.js';
import { quoteCommand } from './quote.js';
import type { ControlClient } from './types.js';

export interface ControlClientOptions {
  /** Name for `tmux -L`; its folder comes from TMUX_TMPDIR of `env`. */
  readonly socketName: string;
  /** Read by tmux only when this call starts the server. */
  readonly configFile: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The command that makes or finds the session: `['new-session', '-s', …]` or `['attach-session', '-t', '=name']`. */
  readonly initial: readonly string[];
  /** Where no server runs it fails, and makes none. Absent: tmux starts one, for `attach-session` too. */
  readonly startsNone?: boolean;
  readonly clock?: Clock;
  /** Limit for one answer, ms. A server that is only stopped answers later; that answer is then dropped. */
  readonly answerTimeoutMs?: number;
  /** A listener threw, or tmux wrote to stderr. */
  readonly onWarning?: (problem: string) => void;
}

const ANSWER_TIMEOUT_MS = 30_000;

interface PendingCommand {
  readonly name: string;
  readonly cancelTimeout: () => void;
  resolve(lines: readonly string[]): void;
  reject(error: Error): void;
}

/**
 * Connects to the server (starting it where `initial` makes it so) and resolves once the session is attached.
 * Throws TMUX_MISSING, or TMUX_FAILED with tmux's words. `-u`: without it a non-UTF-8 locale turns tabs and glyphs
 * of every answer into `_`.
 */
export async function connectControlClient(options: ControlClientOptions): Promise<ControlClient> {
  const { socketName, configFile, initial, startsNone } = options;
  const start = startsNone === true ? ['-N'] : ['-f', configFile];
  const child = spawn('tmux', ['-u', ...start, '-L', socketName, '-C', ...initial], {
    env: options.env,
    stdio: 'pipe',
    // A Ctrl-C in the terminal of our own process must not end the connection.
    detached: true,
  });
  const connection = new ControlConnection(child, options);
  const limit = options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
  const cancel = (options.clock ?? systemClock).after(limit, () => child.kill('SIGKILL'));
  try {
    await connection.connected;
  } finally {
    cancel();
  }
  return connection;
}

class ControlConnection implements ControlClient {
  readonly closed: Promise<string>;
  readonly connected: Promise<void>;
  private readonly child: ChildProcessWithoutNullStreams;
  private readonly options: ControlClientOptions;
  private readonly clock: Clock;
  private readonly pending: PendingCommand[] = [];
  private readonly outputListeners = new Set<(paneId: string, data: Buffer) => void>();
  private readonly notificationListeners = new Set<(line: string) => void>();
  private exitReason: string | null = null;
  private over = false;
  private corked = false;
  private stderr = '';

  constructor(child: ChildProcessWithoutNullStreams, options: ControlClientOptions) {
    this.child = child;
    this.options = options;
    this.clock = options.clock ?? systemClock;
    let attached: () => void = () => undefined;
    let refused: (error: Error) => void = () => undefined;
    this.connected = new Promise((resolve, reject) => {
      attached = resolve;
      refused = reject;
    });
    const parse = createControlParser({
      answer: (answer) => {
        if (answer.own) this.settle(answer.ok, answer.lines);
        else if (answer.ok) attached();
        else refused(this.failure(options.initial[0] ?? '', answer.lines.join(' ')));
      },
      output: (paneId, data) => this.tell(this.outputListeners, (listener) => listener(paneId, data)),
      notification: (line) => this.tell(this.notificationListeners, (listener) => listener(line)),
      exit: (reason) => (this.exitReason = reason),
    });
    // Read at once, always: tmux keeps only 8 kB in flight, so a paused reader sees everything late.
    child.stdout.on('data', parse);
    child.stderr.on(
      'data',
      (text: Buffer) => (this.stderr = (this.stderr + text.toString('utf8')).slice(-2_000)),
    );
    child.stdin.on('error', () => undefined);
    this.closed = new Promise((resolve) => {
      const end = (reason: string, error: Error) => {
        this.finish();
        refused(error);
        resolve(reason);
      };
      child.on('error', (error: NodeJS.ErrnoException) => {
        const missing = error.code === 'ENOENT';
        end(
          error.message,
          missing ? new OrchestratorError('TMUX_MISSING') : this.failure('start', error.message),
        );
      });
      child.on('close', (code, signal) => {
        const reason =
          this.exitReason ?? (this.stderr.trim() || `control client ended (${signal ?? String(code)})`);
        end(reason, this.failure(options.initial[0] ?? '', reason === '' ? 'it ended at once' : reason));
      });
    });
  }

  command(...args: readonly string[]): Promise<readonly string[]> {
    const line = quoteCommand(args);
    if (this.over) return Promise.reject(new OrchestratorError('TMUX_LOST'));
    return new Promise((resolve, reject) => {
      const limit = this.options.answerTimeoutMs ?? ANSWER_TIMEOUT_MS;
      const cancelTimeout = this.clock.after(limit, () =>
        reject(this.failure(args[0] ?? '', `no answer within ${limit} ms`)),
      );
      this.pending.push({ name: args[0] ?? '', cancelTimeout, resolve, reject });
      this.write(`${line}\n`);
    });
  }

  /** Commands of one turn reach tmux in one piece: it runs them all before it tells a program of a new size. */
  private write(line: string): void {
    const { stdin } = this.child;
    if (!this.corked) {
      this.corked = true;
      stdin.cork();
      process.nextTick(() => {
        this.corked = false;
        stdin.uncork();
      });
    }
    stdin.write(line);
  }

  onOutput(listener: (paneId: string, data: Buffer) => void): () => void {
    this.outputListeners.add(listener);
    return () => this.outputListeners.delete(listener);
  }

  onNotification(listener: (line: string) => void): () => void {
    this.notificationListeners.add(listener);
    return () => this.notificationListeners.delete(listener);
  }

  async detach(): Promise<void> {
    this.child.stdin.end();
    // A stopped server does not see the end of our input; the client then goes without it.
    const cancel = this.clock.after(2_000, () => this.child.kill('SIGKILL'));
    await this.closed;
    cancel();
  }

  private settle(ok: boolean, lines: readonly string[]): void {
    const command = this.pending.shift();
    if (command === undefined) return;
    command.cancelTimeout();
    if (ok) command.resolve(lines);
    else command.reject(this.failure(command.name, lines.join(' ')));
  }

  private finish(): void {
    this.over = true;
    for (const command of this.pending.splice(0)) {
      command.cancelTimeout();
      command.reject(new OrchestratorError('TMUX_LOST'));
    }
  }

  private tell<L>(listeners: ReadonlySet<L>, call: (listener: L) => void): void {
    for (const listener of listeners) {
      try {
        call(listener);
      } catch (error) {
        this.options.onWarning?.(`a listener of the control client threw: ${String(error)}`);
      }
    }
  }

  private failure(command: string, problem: string): OrchestratorError {
    return new OrchestratorError('TMUX_FAILED', { command, problem });
  }
}
