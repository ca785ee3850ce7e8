import { existsSync } from 'node:fs';
import { OrchestratorError } from '../core/errors/error.js';
import { runProcess, type ProcessResult } from '../platform/process.js';
import {
  gitEnvironment,
  placeSettings,
  settingArguments,
  type Environment,
  type Place,
} from './git-environment.js';

export interface GitCall {
  readonly at: Place;
  readonly env?: Environment;
  readonly input?: string;
  /** 60 s unless told. */
  readonly timeoutMs?: number;
  readonly maxBytes?: number;
  /** Exit codes that are answers; anything else throws GIT_FAILED. Only 0 unless told. */
  readonly answers?: readonly number[];
  /** Output beyond `maxBytes` is cut instead of being an error. */
  readonly cut?: boolean;
}

export interface GitAnswer {
  readonly code: number;
  /** As it came, trailing newline included. */
  readonly raw: string;
  /** Without trailing newline. */
  readonly text: string;
  readonly truncated: boolean;
  /** What went to stderr, trimmed. */
  readonly complaints: string;
}

export interface GitTools {
  /** Major and minor version as one number: 2.39 → 239. */
  readonly version: number;
  readonly lfsInstalled: boolean;
}

export interface GitRunner {
  run(args: readonly string[], call: GitCall): Promise<GitAnswer>;
  tools(): Promise<GitTools>;
}

const CALL_TIMEOUT_MS = 60_000;
const OUTPUT_LIMIT_BYTES = 64_000_000;

/** Runs git with an argument list; every call is bounded, silent and free of hooks (see git-environment). */
export function createGitRunner(options: { env: Environment; binary: string }): GitRunner {
  const env = gitEnvironment(options.env);
  let known: Promise<GitTools> | null = null;
  const tools = () => (known ??= probe(options.binary, env));
  return {
    tools,
    async run(args, call) {
      const { lfsInstalled } = await tools();
      const place = placeSettings(call.at);
      const result = await runProcess(
        options.binary,
        [...place.args, ...settingArguments({ lfsInstalled }), ...args],
        {
          cwd: place.cwd,
          env: { ...env, ...place.env, ...call.env },
          timeoutMs: call.timeoutMs ?? CALL_TIMEOUT_MS,
          maxBufferBytes: call.maxBytes ?? OUTPUT_LIMIT_BYTES,
          raw: true,
          ...(call.input === undefined ? {} : { input: call.input }),
        },
      );
      return answer(result, args, call, place.cwd);
    },
  };
}

function answer(result: ProcessResult, args: readonly string[], call: GitCall, cwd: string): GitAnswer {
  const command = commandName(args);
  // A missing working directory makes the start fail just as a missing binary does.
  if (result.notStarted) {
    if (!existsSync(cwd))
      throw new OrchestratorError('GIT_FAILED', { command, problem: `the folder ${cwd} does not exist` });
    throw new OrchestratorError('GIT_MISSING', {}, { cause: new Error(result.stderr) });
  }
  const truncatedAnswer = result.truncated && call.cut === true;
  if (
    truncatedAnswer ||
    (result.exitCode !== null && !result.truncated && (call.answers ?? [0]).includes(result.exitCode))
  )
    return {
      code: result.exitCode ?? 0,
      raw: result.stdout,
      text: result.stdout.replace(/\n$/, ''),
      truncated: result.truncated,
      complaints: result.stderr.trim(),
    };
  throw gitFailure(command, result);
}

function gitFailure(command: string, result: ProcessResult): OrchestratorError {
  const problem = result.timedOut
    ? `it did not end within ${Math.round(result.durationMs / 1000)} s`
    : result.truncated
      ? 'its answer is too large'
      : firstLines(result.stderr === '' ? result.stdout : result.stderr);
  return new OrchestratorError(
    'GIT_FAILED',
    { command, problem },
    {
      cause: new Error(
        `exit ${result.exitCode ?? 'by signal'} after ${result.durationMs} ms: ${result.stderr.slice(-2_000)}`,
      ),
    },
  );
}

/** One line for people: git's fatal and error lines first, its hints left out. */
function firstLines(output: string): string {
  const lines = output.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('hint:'));
  const telling = lines.filter((line) => /^(fatal|error):/.test(line));
  return (telling.length > 0 ? telling : lines).slice(-3).join(' · ').slice(0, 500) || 'it gave no reason';
}

function commandName(args: readonly string[]): string {
  let index = 0;
  while (args[index] === '-c') index += 2;
  const name = args[index] ?? '';
  return name === 'worktree' || name === 'submodule' || name === 'lfs'
    ? `${name} ${args[index + 1] ?? ''}`
    : name;
}

async function probe(binary: string, env: Environment): Promise<GitTools> {
  const [git, lfs] = await Promise.all([
    runProcess(binary, ['--version'], { env, timeoutMs: 10_000 }),
    runProcess('git-lfs', ['version'], { env, timeoutMs: 10_000 }),
  ]);
  const match = /(\d+)\.(\d+)/.exec(git.stdout);
  if (git.notStarted || match === null)
    throw new OrchestratorError('GIT_MISSING', {}, { cause: new Error(git.stderr) });
  return {
    version: Number(match[1]) * 100 + Number(match[2]),
    lfsInstalled: !lfs.notStarted && lfs.exitCode === 0,
  };
}

/** Fields of `-z` output. */
export function splitZ(raw: string): string[] {
  const fields = raw.split('\0');
  if (fields.at(-1) === '') fields.pop();
  return fields;
}
