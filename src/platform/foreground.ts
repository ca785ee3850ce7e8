import { spawn } from 'node:child_process';

/**
 * Gives this terminal to another program until it ends; resolves with its exit code, null after a signal. What the
 * terminal sends (Ctrl-C, resize) reaches it directly; an abort of `signal` ends it. There is no time limit, since a
 * person sits in front of it.
 */
export function runInForeground(
  file: string,
  args: readonly string[],
  options: { env: Readonly<Record<string, string | undefined>>; signal: AbortSignal },
): Promise<number | null> {
  const child = spawn(file, [...args], { env: options.env, stdio: 'inherit' });
  const end = () => void child.kill('SIGTERM');
  options.signal.addEventListener('abort', end, { once: true });
  return new Promise((resolve, reject) => {
    const settle = (done: () => void) => () => {
      options.signal.removeEventListener('abort', end);
      done();
    };
    child.once('error', (error) => settle(() => reject(error))());
    child.once('exit', (code) => settle(() => resolve(code))());
  });
}
