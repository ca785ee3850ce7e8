import { spawn } from 'node:child_process';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, isAbsolute, relative, resolve } from 'node:path';
import { runProcess, type ProcessResult } from '../platform/process.js';
import type { StepOf } from './script-schema.js';
import { brief, firstUnmet, StepFailure } from './template.js';
import type { Turn } from './turn.js';

/** A forked child that nobody ended leaves by itself after this time. */
const FORK_LIFE_MS = 600_000;
const GIT_LIMIT_MS = 60_000;

export async function runCommand(turn: Turn, step: StepOf<'run'>): Promise<void> {
  const [file, ...args] = typeof step.run === 'string' ? ['/bin/sh', '-c', step.run] : step.run;
  turn.screen.note(`run ${brief(step.run)}`);
  const answered = turn.screen.tool('shell', { command: [step.run].flat().join(' ') });
  const result = await start(turn, file ?? '', args, step.timeout_ms);
  turn.signal.throwIfAborted();
  const value = { exit_code: result.exitCode, stdout: result.stdout, stderr: result.stderr };
  turn.conversation.values['last'] = value;
  if (step.save !== undefined) turn.conversation.values[step.save] = value;
  const output = `${result.stdout}\n${result.stderr}`.trim();
  answered(output, result.exitCode !== 0);
  turn.screen.note(
    `  ⎿ ${result.timedOut ? 'ran into its time limit' : `exit ${result.exitCode ?? 'by signal'}`}${output === '' ? '' : ` · ${brief(output.split('\n').at(-1))}`}`,
  );
  if (result.exitCode !== 0 && !step.allow_fail)
    throw new StepFailure(`${brief(step.run)} failed (exit ${result.exitCode}): ${brief(output, 400)}`);
  const unmet = step.expect === undefined ? null : firstUnmet(step.expect, value);
  if (unmet !== null) throw new StepFailure(`${brief(step.run)}: ${unmet}`);
}

export async function writeStep(turn: Turn, step: StepOf<'write'>): Promise<void> {
  await put(turn, step.write, step.content);
  turn.screen.note(`write ${step.write} (${step.content.split('\n').length - 1} lines)`);
}

export async function appendStep(turn: Turn, step: StepOf<'append'>): Promise<void> {
  const before = await readFile(inside(turn, step.append), 'utf8').catch(() => '');
  await put(turn, step.append, before + step.content);
  turn.screen.note(`append to ${step.append}`);
}

export async function replaceStep(turn: Turn, step: StepOf<'replace'>): Promise<void> {
  const before = await readFile(inside(turn, step.replace), 'utf8');
  if (!before.includes(step.from))
    throw new StepFailure(`${step.replace} does not contain ${brief(step.from)}`);
  await put(
    turn,
    step.replace,
    step.all ? before.replaceAll(step.from, () => step.to) : before.replace(step.from, () => step.to),
  );
  turn.screen.note(`edit ${step.replace}`);
}

export async function commitStep(turn: Turn, step: StepOf<'commit'>): Promise<void> {
  await git(turn, 'add', '-A', '--', ...step.paths);
  await git(turn, 'commit', '--quiet', '-m', step.commit);
  const head = await git(turn, 'rev-parse', '--short', 'HEAD');
  turn.screen.note(`commit ${head.trim()} ${brief(step.commit)}`);
}

/** Writes the report file that the prompt named: the one file outside the working directory that the agent ever writes. */
export async function flagStep(turn: Turn, step: StepOf<'flag'>): Promise<void> {
  const path = step.path ?? turn.conversation.flag_path;
  if (path === null) throw new StepFailure('flag: no prompt named a done.flag file');
  const target = resolve(turn.cwd, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(`${target}.${process.pid}.tmp`, `${step.flag}\n${step.summary}\n`);
  await rename(`${target}.${process.pid}.tmp`, target);
  turn.screen.note(`flag ${step.flag}: ${brief(step.summary)}`);
}

/** Children in sessions of their own (setsid) that ignore TERM, INT and HUP, as agents' tools may be. */
export async function forkStep(turn: Turn, step: StepOf<'fork'>): Promise<void> {
  const program = `for (const s of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(s, () => {}); setTimeout(() => {}, ${FORK_LIFE_MS}); process.stdout.write('.');`;
  const pids = await Promise.all(
    Array.from({ length: step.fork === true ? 1 : step.fork }, async () => {
      const child = spawn(process.execPath, ['-e', program], {
        cwd: turn.cwd,
        env: turn.env,
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
      });
      await new Promise((ready, failed) => child.stdout.once('data', ready) && child.once('error', failed));
      child.stdout.destroy();
      child.unref();
      return child.pid;
    }),
  );
  if (step.save !== undefined) turn.conversation.values[step.save] = pids;
  turn.screen.note(`fork ${pids.join(' ')}`);
}

async function put(turn: Turn, path: string, content: string): Promise<void> {
  const target = inside(turn, path);
  await mkdir(dirname(target), { recursive: true });
  await writeFile(target, content);
}

function inside(turn: Turn, path: string): string {
  const target = resolve(turn.cwd, path);
  const way = relative(turn.cwd, target);
  if (way === '' || way.startsWith('..') || isAbsolute(way))
    throw new StepFailure(`${path} is outside of the working directory`);
  return target;
}

async function git(turn: Turn, ...args: string[]): Promise<string> {
  const result = await start(turn, 'git', args, GIT_LIMIT_MS);
  turn.signal.throwIfAborted();
  if (result.exitCode !== 0)
    throw new StepFailure(`git ${args[0]} failed: ${brief(`${result.stderr} ${result.stdout}`.trim(), 400)}`);
  return result.stdout;
}

async function start(
  turn: Turn,
  file: string,
  args: readonly string[],
  timeoutMs: number,
): Promise<ProcessResult> {
  const env = { ...turn.env, ...(await identityEnv(turn)) };
  return runProcess(file, args, { cwd: turn.cwd, env, timeoutMs, signal: turn.signal });
}

let identity: Promise<Record<string, string>> | null = null;

/** The user's own git identity where there is one; commits must not fail where there is none. */
function identityEnv(turn: Turn): Promise<Record<string, string>> {
  identity ??= (async () => {
    const known = await runProcess('git', ['var', 'GIT_COMMITTER_IDENT'], {
      cwd: turn.cwd,
      env: turn.env,
      timeoutMs: GIT_LIMIT_MS,
    });
    if (known.exitCode === 0) return {};
    const [name, email] = ['Scripted agent', 'scripted@agentorchestr.invalid'];
    return {
      GIT_AUTHOR_NAME: name,
      GIT_AUTHOR_EMAIL: email,
      GIT_COMMITTER_NAME: name,
      GIT_COMMITTER_EMAIL: email,
    };
  })();
  return identity;
}
