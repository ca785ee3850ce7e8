import { text } from 'node:stream/consumers';
import { delay } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import type { AgentctlHost, DaemonRequest, Target } from '../doors/agentctl/host.js';
import type { Terminal } from '../doors/cli/host.js';
import { systemClock } from '../platform/clock.js';
import { readTextFile } from '../platform/files.js';
import { callHttp, ConnectionLost } from '../platform/http-client.js';
import { resolvePaths, type Paths } from '../platform/paths.js';
import { shellQuote } from '../platform/shell-quote.js';
import { findDaemon, type KnownDaemon } from './daemon-files.js';
import { readAgents } from './own-agents.js';
import { remoteError } from './remote-error.js';
import { packageVersion } from './manifest.js';

export function createAgentctlHost(
  env: Readonly<Record<string, string | undefined>>,
  terminal: Terminal,
): AgentctlHost {
  const paths = resolvePaths(env);
  // Loaded by those who need it: most commands are about conversations.
  const control = async () => (await import('./daemon-control.js')).daemonControl(env, paths);
  return {
    ...{ env, clock: systemClock, version: packageVersion(), stdoutIsTty: terminal.stdoutIsTty },
    ...{ out: terminal.out, err: terminal.err, interrupted: () => terminal.interrupted },
    readStdin: () => text(process.stdin),
    call: (target, request) => callDaemon(paths, target, request),
    completionScript: async (shell) =>
      (await import('./completion.js')).agentctlScript(shell, readAgents(paths)),
    daemon: {
      start: async (...given) => (await control()).start(...given),
      preflight: async (...given) => (await control()).preflight(...given),
      stop: async (...given) => (await control()).stop(...given),
      backup: async (...given) => (await control()).backup(...given),
      followLogs: async (...given) => (await control()).followLogs(...given),
      logs: async (...given) => (await control()).logs(...given),
    },
  };
}

async function callDaemon(paths: Paths, target: Target, request: DaemonRequest) {
  const known = await findDaemon(paths, target.url);
  // What listens in the place of a dead daemon must not learn its token.
  if (known?.isAlive === false && target.token === null) throw stale(target, known);
  const token = target.token ?? (await tokenOf(known));
  const limit = limitOf(request);
  try {
    const { method, path, body } = request;
    const answer = await callHttp({ url: target.url, token }, { method, path, body, signal: limit.signal });
    if (answer.status < 300) return (answer.body ?? {}) as Record<string, unknown>;
    throw remoteError(answer, 'the daemon', { UNAUTHENTICATED: whichToken(known) });
  } catch (error) {
    if (!(error instanceof ConnectionLost)) throw error;
    if (known?.isAlive === false) throw stale(target, known);
    const problem = limit.isOver() ? `no answer within ${request.limitMs} ms` : error.message;
    const params = { url: target.url, problem, was_there: error.wasThere && !limit.isOver() };
    throw new OrchestratorError('DAEMON_UNREACHABLE', params, { cause: error });
  } finally {
    limit.end();
  }
}

async function tokenOf(known: KnownDaemon | null): Promise<string | null> {
  const file = known?.file.token_file ?? null;
  return file === null ? null : ((await readTextFile(file))?.trim() ?? null);
}

function whichToken(known: KnownDaemon | null): string {
  const file = known?.file.token_file ?? null;
  return file === null
    ? 'give the token that this daemon was started with: --auth-token TOKEN, or AGENTCTL_AUTH_TOKEN'
    : `its token is in ${file}, which agentctl reads where no other is given (--auth-token, AGENTCTL_AUTH_TOKEN)`;
}

function stale({ url }: Target, { file }: KnownDaemon): OrchestratorError {
  return new OrchestratorError('DAEMON_STALE', { url, pid: file.pid, database: shellQuote(file.database) });
}

/** Ends a call that takes too long, or that is interrupted. */
function limitOf({ limitMs, signal }: DaemonRequest) {
  const over = new AbortController();
  const done = new AbortController();
  if (limitMs !== undefined)
    void delay(systemClock, limitMs, done.signal).then(() => done.signal.aborted || over.abort());
  return {
    signal: signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]),
    isOver: () => over.signal.aborted,
    end: () => done.abort(),
  };
}
