import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { constants } from 'node:os';
import { isStopped, processRef, signalProcess, type ProcessRef } from './process-tree.js';

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

export interface TerminalGuest {
  /** There from the start; it becomes the program with `begin`. */
  readonly process: ProcessRef;
  /** Resolves with its exit status, 128 + n for signal n, once the terminal is ours again; never rejects. */
  readonly ended: Promise<number>;
  begin(): void;
}

/** Waits for a line before it becomes the program; without one, since whoever was to write it died, it never does. */
const WAIT = 'IFS= read -r go <&3 && exec 3<&- && exec "$@"';

let guests = 0;

/** While it is so, what the terminal sends (Ctrl-C) is for the program that has it. */
export function isTerminalGiven(): boolean {
  return guests > 0;
}

/**
 * Gives this terminal to a program that can be followed: its process is known before it does anything. Rejects when it
 * cannot be started.
 */
export async function inviteToTerminal(
  argv: readonly string[],
  options: { env: Readonly<Record<string, string | undefined>>; cwd: string },
): Promise<TerminalGuest> {
  const settings = terminalSettings();
  const child = spawn('/bin/sh', ['-c', WAIT, 'agent', ...argv], {
    ...options,
    stdio: ['inherit', 'inherit', 'inherit', 'pipe'],
  });
  guests += 1;
  const known = new Promise<ProcessRef | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('spawn', () => resolve(processRef(child.pid ?? 0)));
  });
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code, signal) => {
      if (signal !== null) process.stdout.write(PLAIN_SCREEN);
      if (settings !== null) applySettings(settings);
      resolve(code ?? 128 + constants.signals[signal ?? 'SIGTERM']);
    });
  });
  const left = () => void (guests -= 1);
  try {
    const found = await known;
    if (found === null) throw new Error('it ended at once');
    const unwatch = keepGoing(found);
    void ended.then(unwatch).then(left);
    return { process: found, ended, begin: () => begin(child) };
  } catch (error) {
    left();
    throw error;
  }
}

function begin(child: ChildProcess): void {
  const pipe = child.stdio[3];
  if (pipe === null || pipe === undefined || !('write' in pipe)) return;
  pipe.on('error', () => undefined);
  pipe.end('go\n');
}

/** A program that stops itself (Ctrl-Z) hands the terminal to a shell that would continue it; here there is none. */
function keepGoing(guest: ProcessRef): () => void {
  const look = () => {
    if (isStopped(guest.pid)) signalProcess(guest, 'SIGCONT');
  };
  process.on('SIGCHLD', look);
  return () => void process.off('SIGCHLD', look);
}

/** Main screen, cursor shown, no bracketed paste, no mouse, no colours, nothing below. */
const PLAIN_SCREEN = '\u001B[?1049l\u001B[?25h\u001B[?2004l\u001B[?1000l\u001B[0m\r\n\u001B[J';
const STTY_LIMIT_MS = 2_000;

/** null: it is no terminal, or there is no stty. */
function terminalSettings(): string | null {
  const asked = spawnSync('stty', ['-g'], {
    stdio: ['inherit', 'pipe', 'ignore'],
    timeout: STTY_LIMIT_MS,
    encoding: 'utf8',
  });
  return asked.status === 0 ? asked.stdout.trim() : null;
}

function applySettings(settings: string): void {
  spawnSync('stty', [settings], { stdio: ['inherit', 'ignore', 'ignore'], timeout: STTY_LIMIT_MS });
}
