import { createInterface } from 'node:readline';
import type { Terminal } from '../doors/cli/host.js';
import { Interrupted } from '../doors/cli/interrupted.js';
import { EXIT } from '../core/errors/categories.js';

/** The terminal (or pipes) this process was started on. */
export function createTerminal(): Terminal {
  const { stdout, stderr } = process;
  const interrupts = createInterrupts();
  // A reader such as `head` may leave early; a terminal may be closed under us.
  stdout.on('error', () => interrupts.mustCleanUp || process.exit(EXIT.ok));
  stderr.on('error', () => undefined);

  /** Raw mode on a terminal: a line of any length comes whole (the kernel's own editing cuts at 4096 bytes). */
  const readLines = (prompt: string, done: (lines: readonly string[]) => boolean) =>
    new Promise<string[]>((resolve, reject) => {
      const { stdin } = process;
      const lines: string[] = [];
      const reader = createInterface({
        input: stdin,
        output: stderr,
        terminal: stdin.isTTY && stderr.isTTY,
        prompt,
      });
      reader.on('SIGINT', () => {
        stderr.write('\n');
        reader.removeAllListeners('close');
        reader.close();
        reject(new Interrupted());
      });
      reader.on('line', (line) => {
        lines.push(line);
        if (done(lines)) reader.close();
        else reader.prompt();
      });
      reader.on('close', () => resolve(lines));
      reader.prompt();
    });

  return {
    // Opened when somebody asks: most commands never read, and it takes milliseconds.
    get stdinIsTty() {
      return Boolean(process.stdin.isTTY);
    },
    stdoutIsTty: Boolean(stdout.isTTY),
    stderrIsTty: Boolean(stderr.isTTY),
    get columns() {
      return stdout.columns || 80;
    },
    get rows() {
      return stdout.rows || 24;
    },
    out: (text) => void stdout.write(text),
    err: (text) => void stderr.write(text),
    ask: async (question) => (await readLines(question, (lines) => lines.length === 1))[0] ?? null,
    readLines: (done) => readLines('> ', done),
    ...watching,
    get interrupted() {
      return interrupts.signal();
    },
    interruptOnHangUp: () => interrupts.takeAll(),
  };
}

/** For those who look on: keys without Enter, other sizes. */
const watching: Pick<Terminal, 'onKey' | 'onResize'> = {
  onKey(listener) {
    const { stdin } = process;
    if (!stdin.isTTY) return () => undefined;
    const hear = (bytes: Buffer) => listener(bytes.toString('utf8'));
    stdin.setRawMode(true).on('data', hear).resume();
    return () => void stdin.off('data', hear).pause().setRawMode(false);
  },
  onResize(listener) {
    process.stdout.on('resize', listener);
    return () => void process.stdout.off('resize', listener);
  },
};

/** Signals keep their usual effect until somebody asks for `signal()`. */
function createInterrupts() {
  const controller = new AbortController();
  let listening = false;
  const state = {
    mustCleanUp: false,
    signal(): AbortSignal {
      if (!listening) {
        listening = true;
        process.on('SIGINT', interrupt);
        process.on('SIGTERM', interrupt);
      }
      return controller.signal;
    },
    takeAll(): void {
      state.mustCleanUp = true;
      state.signal();
      process.on('SIGHUP', interrupt);
    },
  };
  const interrupt = () => {
    if (controller.signal.aborted && !state.mustCleanUp) process.exit(EXIT.interrupted);
    controller.abort();
  };
  return state;
}
