import { isoTime } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import { areCommandsConsented, consentToCommands, isProjectTrusted, trustProject } from '../config/trust.js';
import type { FrozenCommand } from '../core/events/index.js';
import type { CliHost, ProjectExamination, Terminal } from '../doors/cli/host.js';
import { baseStatement } from '../git/base-statement.js';
import type { ProjectFacts } from '../git/contract.js';
import { createGit } from '../git/create-git.js';
import { systemClock } from '../platform/clock.js';
import { newSessionId } from '../platform/ids.js';
import { isSameProcessAlive } from '../platform/identity.js';
import { ConnectionLost } from '../platform/local-http.js';
import { resolvePaths, sessionDataDirectory } from '../platform/paths.js';
import { goneWithin } from '../backends/tmux/server.js';
import { freezeCommands } from '../services/context/freeze-commands.js';
import { OPERATIONS } from '../services/operations/index.js';
import type { SessionReport } from '../services/supervise/session-report.js';
import { detectAgents, detectSurroundings, knownAgents } from './cli-agents.js';
import { attachTerminal, panesCommand } from './cli-panes.js';
import { findSession, readSessions, withStore } from './cli-sessions.js';
import { prepareDemo } from './demo.js';
import { callSupervisor, serverOf } from './session-client.js';
import { readControl } from './session-control.js';
import { sessionEvents } from './session-events.js';
import { callInProcess } from './session-in-process.js';
import { startSupervisor } from './start-supervisor.js';
import { packageVersion } from './version.js';

type Environment = Readonly<Record<string, string | undefined>>;

export interface CliHostOptions {
  readonly env: Environment;
  readonly terminal: Terminal;
  /** The environment is not the one a person types in (a demo): commands for them must not rest on it. */
  readonly foreignHome?: boolean;
}

/** What the command line stands on; composition only. */
export function createCliHost({ env, terminal, foreignHome = false }: CliHostOptions): CliHost {
  const paths = resolvePaths(env);
  const now = () => isoTime(systemClock);
  return {
    env,
    terminal,
    version: packageVersion(),
    newSessionId,
    now: () => systemClock.now(),
    knownAgents,
    detectAgents: (names) => detectAgents(env, names),
    detectSurroundings: () => detectSurroundings(env),
    listSessions: (limit) => readSessions(env, limit),
    examineProject: (project, options) => examineProject(env, project, options),
    trustProject: (project) => trustProject(paths, project, now()),
    consentToCommands: (project, commands) =>
      consentToCommands(paths, project, { commands: texts(commands), at: now() }),
    async startSession(plan) {
      const ready = await startSupervisor(plan, { paths, env });
      return { sessionId: ready.session_id, baseStatement: ready.base, directory: ready.directory };
    },
    findSession: (prefix) => findSession(env, prefix),
    call: (sessionId, operation, input) => call(env, sessionId, { operation, input }),
    report: async (sessionId) =>
      (await call(env, sessionId, { operation: 'status', input: {} })) as SessionReport,
    events: (sessionId, options) => sessionEvents(env, sessionId, options),
    settled: (sessionId, limitMs) => settled(env, sessionId, limitMs),
    attach: (sessionId) => attachTerminal(env, sessionId, terminal),
    attachCommand: (sessionId) => panesCommand(env, sessionId, { foreignHome }),
    prepareDemo: (options) =>
      prepareDemo({
        env,
        terminal,
        ...options,
        createHost: (own) => createCliHost({ env: own, terminal, foreignHome: true }),
      }),
  };
}

const texts = (commands: readonly FrozenCommand[]) => commands.map(({ command }) => command);

async function examineProject(
  env: Environment,
  folder: string,
  options: { verify: readonly string[]; includeChanges: boolean },
): Promise<ProjectExamination> {
  const facts = await createGit({ env, clock: systemClock }).inspectProject(folder);
  const { project } = facts;
  const frozen = await freezeCommands(project, options.verify);
  const paths = resolvePaths(env);
  const consented =
    frozen.fromFiles.length === 0 || (await areCommandsConsented(paths, project, texts(frozen.fromFiles)));
  return {
    project,
    trusted: await isProjectTrusted(paths, project),
    verifyCommands: frozen.verify,
    setupCommands: frozen.setup,
    consentNeeded: consented ? [] : frozen.fromFiles,
    verifyGivenUnused: frozen.givenUnused,
    baseStatement: presentBase(facts, options.includeChanges),
  };
}

/** The base before anything is fetched or copied; the session's own statement is said again when it differs. */
function presentBase(facts: ProjectFacts, includeChanges: boolean): string {
  if (facts.repository === null) return `base: a private copy of ${facts.project} (not a git repository)`;
  return baseStatement(facts, {
    now: systemClock.now(),
    included: includeChanges,
    embedded: [],
    fetchProblem: null,
  });
}

async function call(
  env: Environment,
  sessionId: string,
  request: { operation: string; input: Record<string, unknown> },
): Promise<Record<string, unknown>> {
  const operation = OPERATIONS.find((candidate) => candidate.name === request.operation);
  if (operation === undefined)
    throw new OrchestratorError('UNKNOWN_OPERATION', { operation: request.operation });
  const control = await readControl(sessionDataDirectory(resolvePaths(env), sessionId));
  if (control !== null) {
    try {
      return await callSupervisor(serverOf(control), operation, request.input);
    } catch (error) {
      // A supervisor that is closing answers nothing more; what it wrote can still be read.
      if (!isGone(error) || operation.effect !== 'read') throw goneError(error, sessionId);
    }
  }
  return callInProcess(env, sessionId, operation, request.input);
}

function isGone(error: unknown): boolean {
  return (
    error instanceof ConnectionLost || (error instanceof OrchestratorError && error.code === 'SHUTTING_DOWN')
  );
}

function goneError(error: unknown, sessionId: string): unknown {
  return error instanceof ConnectionLost
    ? new OrchestratorError('SUPERVISOR_NOT_RUNNING', { session: sessionId }, { cause: error })
    : error;
}

async function settled(env: Environment, sessionId: string, limitMs: number): Promise<boolean> {
  const owner = await withStore(env, (store) => store.lease(sessionId));
  const control = await readControl(sessionDataDirectory(resolvePaths(env), sessionId));
  const pids = [
    ...(owner !== null && isSameProcessAlive(owner) ? [owner] : []),
    ...(control === null ? [] : [{ pid: control.pid, pidStartedAt: control.pid_started_at }]),
  ];
  const gone = await Promise.all(pids.map((supervisor) => goneWithin(supervisor, limitMs, systemClock)));
  return gone.every(Boolean);
}
