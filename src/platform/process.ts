import { constants } from 'node:os';
import type { Readable } from 'node:stream';
import { execa, type Options } from 'execa';

/** Output that has not arrived so long after the program ended is not its own: something that it left holds the pipe. */
const OUTPUT_GRACE_MS = 2_000;

/** What a finished process left. Never thrown for a non-zero exit: the caller decides what that means. */
export interface ProcessResult {
  /** null when it was killed by a signal, could not be started, or ran into its time limit. */
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
  readonly truncated: boolean;
  /** The binary does not exist or may not be executed. */
  readonly notStarted: boolean;
  readonly durationMs: number;
}

export interface ProcessOptions {
  readonly cwd?: string;
  /** The whole environment of the child; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  /** Required: no child without a bound. On expiry: TERM, then KILL 2 s later. */
  readonly timeoutMs: number;
  readonly maxBufferBytes?: number;
  readonly signal?: AbortSignal;
  /** stdout and stderr in one, in `stdout`. */
  readonly merge?: boolean;
  /** Keep trailing newlines and everything else as it came. */
  readonly raw?: boolean;
}

/** Runs `file` with an argument list (never a shell string) and waits for its end. Output is bounded (10 MB unless told). */
export async function runProcess(
  file: string,
  args: readonly string[],
  options: ProcessOptions,
): Promise<ProcessResult> {
  const settings: Options = {
    env: options.env,
    extendEnv: false,
    timeout: options.timeoutMs,
    forceKillAfterDelay: 2_000,
    maxBuffer: options.maxBufferBytes ?? 10_000_000,
    reject: false,
    stripFinalNewline: options.raw !== true,
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    ...(options.input === undefined ? { stdin: 'ignore' as const } : { input: options.input }),
    ...(options.signal === undefined ? {} : { cancelSignal: options.signal }),
    ...(options.merge === true ? { all: true } : {}),
  };
  const child = execa(file, [...args], settings);
  const letGo = cutOutputAfterExit(child);
  const result = await child;
  letGo();
  const notStarted =
    result.exitCode === undefined && result.signal === undefined && !result.timedOut && !result.isMaxBuffer;
  return {
    exitCode: result.timedOut ? null : (result.exitCode ?? null),
    stdout: String((options.merge === true ? result.all : result.stdout) ?? ''),
    stderr: notStarted ? (result.originalMessage ?? '') : String(result.stderr ?? ''),
    timedOut: result.timedOut,
    truncated: result.isMaxBuffer,
    notStarted,
    durationMs: result.durationMs,
  };
}

interface EndingProcess {
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  once(event: 'exit', listener: () => void): unknown;
}

/** A limit is none while a descendant that nobody waits for can keep the output open. Returns what ends the watch. */
function cutOutputAfterExit(child: EndingProcess): () => void {
  let timer: NodeJS.Timeout | undefined;
  child.once('exit', () => {
    const cut = () => [child.stdout, child.stderr].forEach((stream) => stream?.destroy());
    // After a turn of the event loop, so that what is there is read first however late the timer comes.
    timer = setTimeout(() => setImmediate(cut), OUTPUT_GRACE_MS);
  });
  return () => clearTimeout(timer);
}

export interface ShellOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number;
  /** Last characters of the merged output that are kept. */
  readonly tailChars: number;
  readonly signal?: AbortSignal;
}

/**
 * Runs a person's own command line (setup, verify: consented to, never built from agents' text) with `sh -c` in a
 * process group of its own. At the time limit or on abort the whole group gets TERM, then KILL; what the command leaves
 * behind in its group ends with it. `exitCode`: 128 + signal for a command that a signal ended, 127 for one that could
 * not be started, null only for one that we stopped.
 */
export async function runShellCommand(
  command: string,
  options: ShellOptions,
): Promise<{ exitCode: number | null; durationMs: number; tail: string }> {
  if (options.signal?.aborted === true) return { exitCode: null, durationMs: 0, tail: '' };
  const child = execa('/bin/sh', ['-c', command], {
    cwd: options.cwd,
    env: options.env,
    extendEnv: false,
    detached: true,
    reject: false,
    stdin: 'ignore',
    all: true,
    buffer: false,
  });
  let tail = '';
  child.all?.setEncoding('utf8');
  child.all?.on('data', (chunk: string) => {
    tail = `${tail}${chunk}`.slice(-options.tailChars);
  });
  const group = groupOf(child.pid);
  let stopped = false;
  let killer: NodeJS.Timeout | undefined;
  const stop = () => {
    stopped = true;
    group('SIGTERM');
    killer = setTimeout(() => group('SIGKILL'), 2_000);
  };
  const limit = setTimeout(stop, options.timeoutMs);
  options.signal?.addEventListener('abort', stop, { once: true });
  const letGo = cutOutputAfterExit(child);
  child.once('exit', () => {
    clearTimeout(limit);
    group('SIGKILL');
  });
  const result = await child;
  letGo();
  clearTimeout(limit);
  clearTimeout(killer);
  options.signal?.removeEventListener('abort', stop);
  const signalCode = result.signal === undefined ? 127 : 128 + constants.signals[result.signal];
  return {
    exitCode: stopped ? null : (result.exitCode ?? signalCode),
    durationMs: Math.round(result.durationMs),
    tail: child.pid === undefined ? (result.originalMessage ?? '') : tail.trimEnd(),
  };
}

function groupOf(pid: number | undefined): (signal: NodeJS.Signals) => void {
  return (signal) => {
    try {
      if (pid !== undefined) process.kill(-pid, signal);
    } catch {
      // The group is gone already.
    }
  };
}
