import { execa, type Options } from 'execa';

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
  const result = await execa(file, [...args], settings);
  const notStarted =
    result.exitCode === undefined && result.signal === undefined && !result.timedOut && !result.isMaxBuffer;
  return {
    exitCode: result.exitCode ?? null,
    stdout: String((options.merge === true ? result.all : result.stdout) ?? ''),
    stderr: notStarted ? (result.originalMessage ?? '') : String(result.stderr ?? ''),
    timedOut: result.timedOut,
    truncated: result.isMaxBuffer,
    notStarted,
    durationMs: result.durationMs,
  };
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
 * process group of its own; at the time limit or on abort the whole group gets TERM, then KILL.
 */
export async function runShellCommand(
  command: string,
  options: ShellOptions,
): Promise<{ exitCode: number | null; durationMs: number; tail: string }> {
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
  const killGroup = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // The group is gone already.
    }
  };
  let killer: NodeJS.Timeout | undefined;
  const stop = () => {
    killGroup('SIGTERM');
    killer = setTimeout(() => killGroup('SIGKILL'), 2_000);
  };
  const limit = setTimeout(stop, options.timeoutMs);
  options.signal?.addEventListener('abort', stop, { once: true });
  const result = await child;
  clearTimeout(limit);
  clearTimeout(killer);
  options.signal?.removeEventListener('abort', stop);
  killGroup('SIGKILL');
  return {
    exitCode: result.exitCode ?? null,
    durationMs: Math.round(result.durationMs),
    tail: tail.trimEnd(),
  };
}
