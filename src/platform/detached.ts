import { spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';

export interface DetachedOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Written to the child's stdin, which is then closed. */
  readonly input: string;
  /** Its stdout and stderr are appended to this file (0600). */
  readonly logPath: string;
}

export type DetachedStart =
  | { readonly line: string; readonly pid: number }
  /** It ended without a word on fd 3. */
  | { readonly line: null; readonly exit: string };

/**
 * Starts a process that outlives this one (own process group and session) and waits for its first line on fd 3. There
 * is no time limit here: the child itself is bound to answer; an abort of `signal` ends it.
 */
export function startDetached(
  file: string,
  args: readonly string[],
  options: DetachedOptions,
  signal?: AbortSignal,
): Promise<DetachedStart> {
  const log = openSync(options.logPath, 'a', 0o600);
  const child = spawn(file, [...args], {
    cwd: options.cwd,
    env: options.env,
    detached: true,
    stdio: ['pipe', log, log, 'pipe'],
  });
  closeSync(log);
  return new Promise((resolve, reject) => {
    let said = '';
    const done = (start: DetachedStart) => {
      signal?.removeEventListener('abort', abort);
      child.removeAllListeners();
      child.unref();
      resolve(start);
    };
    const abort = () => void child.kill('SIGTERM');
    signal?.addEventListener('abort', abort, { once: true });
    child.once('error', reject);
    child.once('exit', (code, signalName) =>
      done({ line: null, exit: signalName ?? `exit ${code ?? 'unknown'}` }),
    );
    const ready = child.stdio[3];
    if (ready === null || ready === undefined || !('on' in ready)) throw new Error('fd 3 was not opened');
    ready.on('data', (chunk: Buffer) => {
      said += chunk.toString('utf8');
      const end = said.indexOf('\n');
      if (end !== -1) done({ line: said.slice(0, end), pid: child.pid ?? 0 });
    });
    ready.on('error', () => undefined);
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(options.input);
  });
}
