import { realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { OrchestratorError } from '../../core/errors/error.js';
import { readTextFile } from '../files.js';
import type { ProcessRef } from '../process-tree.js';
import { shellQuote } from '../shell-quote.js';

/** A program to be launched for a worker. */
export interface LaunchedProgram {
  readonly workerId: string;
  readonly attemptId: string;
  /** Working directory; must exist. */
  readonly cwd: string;
  readonly argv: readonly string[];
  /** On top of what it inherits; may hold tokens, never goes into argv. */
  readonly env: Readonly<Record<string, string>>;
}

/** Carried by everything an agent starts; see `end-processes.ts`. */
export const ATTEMPT_VARIABLE = 'AGENTORCHESTR_ATTEMPT';

/** A longer argument is refused: the kernel's own limit for one is 128 KB, and nobody reads such a command line. */
const LONGEST_ARGUMENT = 100 * 1024;

/** How long a launcher waits for somebody to have read its agent's last words. */
const STAY_SECONDS = 2;

export interface LaunchFiles {
  readonly script: string;
  /** `<pid> <start time>` of the agent, there before its program runs. */
  readonly pid: string;
  /** Exit status, 128 + n for signal n; there once the agent has ended. */
  readonly exit: string;
  /** What the pane held when its slot was given to another worker. */
  readonly text: string;
}

export function launchFiles(directory: string, workerId: string, attemptId: string): LaunchFiles {
  if (!/^[\w-]+$/.test(attemptId)) throw new Error(`not an attempt id: ${attemptId}`);
  const base = join(directory, `${workerId}.${attemptId}`);
  return { script: `${base}.launch.sh`, pid: `${base}.pid`, exit: `${base}.exit`, text: `${base}.text` };
}

/** The worker and attempt that a script belongs to, from a pane's start command. */
export function parseStartCommand(
  command: string,
): { script: string; directory: string; workerId: string; attemptId: string } | null {
  const match = /^"?\/bin\/sh (.+\.launch\.sh)/s.exec(command);
  const script = match?.[1]?.replace(/^['"]/, '').replaceAll(/\\(.)/g, '$1');
  const parts = script === undefined ? null : /^(.*)\/([^/.]+)\.([\w-]+)\.launch\.sh$/s.exec(script);
  if (script === undefined || parts === null) return null;
  return { script, directory: parts[1] ?? '', workerId: parts[2] ?? '', attemptId: parts[3] ?? '' };
}

/** Throws SPAWN_FAILED for what can be seen before anything is started. */
export async function checkStartable(spec: LaunchedProgram): Promise<{ realCwd: string }> {
  const fail = (problem: string, cause?: unknown) =>
    new OrchestratorError('SPAWN_FAILED', { worker: spec.workerId, problem }, { cause });
  if (spec.argv.length === 0) throw new Error(`worker ${spec.workerId} has no command`);
  for (const argument of spec.argv) {
    const bytes = Buffer.byteLength(argument);
    if (bytes > LONGEST_ARGUMENT)
      throw fail(`an argument of its command has ${bytes} bytes; ${LONGEST_ARGUMENT} is the limit`);
    if (argument.includes('\0')) throw fail('an argument of its command holds a NUL byte');
  }
  const realCwd = await realpath(spec.cwd).catch((error: Error) => {
    throw fail(`its working directory ${spec.cwd} cannot be entered: ${error.message}`, error);
  });
  return { realCwd };
}

export interface LaunchScript {
  readonly files: LaunchFiles;
  readonly realCwd: string;
  /** Variables that are taken out of what it inherits. */
  readonly without: readonly string[];
  /** Files instead of a terminal; absent: it has what its launcher has. */
  readonly streams?: { readonly input: string; readonly output: string; readonly errors: string };
  /** It ends only after somebody has read its program's last words (USR1), or after a while: tmux loses them otherwise. */
  readonly stays: boolean;
}

/**
 * The program that launches an agent. It outlives INT, QUIT and TERM so that the exit status is written; `trap :` and
 * not `trap ''`, because an ignored signal would stay ignored in the agent. In a terminal it must not outlive HUP: the
 * kernel hangs up on the agent only when the terminal's first process is gone. The agent's own process (inner sh, then
 * exec) says its pid and start time before it becomes the agent. Statuses come from here because whoever started us may
 * be gone by then, and tmux loses most of them.
 */
export function launchScript(spec: LaunchedProgram, script: LaunchScript): string {
  const { files, streams, stays } = script;
  const env = { ...spec.env, [ATTEMPT_VARIABLE]: spec.attemptId };
  const exports = Object.entries(env).map(
    ([name, value]) => `export ${variableName(name)}=${shellQuote(value)}`,
  );
  return `#!/bin/sh
# Starts worker ${spec.workerId}, attempt ${spec.attemptId}.
trap : INT QUIT TERM
trap 'was_read=1' USR1
umask_was=$(umask)
umask 077
${streams === undefined ? '' : redirection(streams)}finish() {
  printf '%s\\n' "$1" >${shellQuote(files.exit)}
${stays ? STAY : ''}  exit "$1"
}
cd -P -- ${shellQuote(script.realCwd)} && [ "$PWD" = ${shellQuote(script.realCwd)} ] || {
  echo "agentorchestr: the working directory cannot be entered" >&2
  finish 126
}
${script.without.map((name) => `unset ${variableName(name)}\n`).join('')}${exports.join('\n')}
# What this shell itself would say of a killed child does not belong among the agent's last words.
exec 3>&2 2>/dev/null
/bin/sh -c ${shellQuote(INNER)} agent ${shellQuote(files.pid)} "$umask_was" ${spec.argv.map(shellQuote).join(' ')}
finish $?
`;
}

/** Nobody hangs up on what has no terminal. */
function redirection(streams: NonNullable<LaunchScript['streams']>): string {
  const [input, output, errors] = [streams.input, streams.output, streams.errors].map(shellQuote);
  return `trap : HUP\nexec <${input} >>${output} 2>>${errors}\n`;
}

// tmux drops what it has not read from the terminal when its first process ends.
const STAY = `  command -p sleep ${STAY_SECONDS} &
  trap 'kill $! 2>/dev/null; exit '"$1" USR1
  [ -n "$was_read" ] && kill $! 2>/dev/null || wait $!
`;

/** Its own start time is the 22nd word of what the kernel says of it; its name, the second, is `sh` here: one word. */
const INNER = `exec 2>&3 3>&-
read -r ${'_ '.repeat(21)}ao_started _ 2>/dev/null </proc/$$/stat
[ -n "$ao_started" ] || ao_started=$(LC_ALL=C ps -o lstart= -p $$)
printf '%s\\n' "$$ $ao_started" >"$1" && umask "$2" && shift 2 && unset ao_started && exec "$@"`;

export async function readPidFile(path: string): Promise<ProcessRef | null> {
  const match = /^(\d+) +(\S.*?) *\n$/.exec((await readTextFile(path)) ?? '');
  return match === null ? null : { pid: Number(match[1]), pidStartedAt: match[2] ?? '' };
}

export async function readExitFile(path: string): Promise<number | null> {
  const match = /^(\d+)\n$/.exec((await readTextFile(path)) ?? '');
  return match === null ? null : Number(match[1]);
}

function variableName(name: string): string {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new Error(`not the name of an environment variable: ${name}`);
  return name;
}
