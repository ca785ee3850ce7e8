import type { AgentAdapter } from '../agents/contract.js';
import { isoTime } from '../core/clock.js';
import { consentToCommands, trustProject } from '../config/trust.js';
import type { CliHost, Terminal } from '../doors/cli/host.js';
import { systemClock } from '../platform/clock.js';
import { findProgram } from '../platform/find-program.js';
import { newSessionId } from '../platform/ids.js';
import { resolvePaths } from '../platform/paths.js';
import { attachTerminal, panesCommand } from './cli-panes.js';
import { findSession, readSessions, whereWorkIs } from './cli-sessions.js';
import { knownAgents } from './known-agents.js';
import { callSession, reportOf, settled } from './session-access.js';
import { sessionEvents } from './session-events.js';
import { readAgents } from './own-agents.js';
import { packageVersion } from './manifest.js';

export interface CliHostOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly terminal: Terminal;
  /** The environment is not the one a person types in (a demo): commands for them must not rest on it. */
  readonly foreignHome?: boolean;
}

/** What the command line stands on; composition only. What only some commands need is loaded when they do. */
export function createCliHost({ env, terminal, foreignHome = false }: CliHostOptions): CliHost {
  const paths = resolvePaths(env);
  const now = () => isoTime(systemClock);
  let read: readonly AgentAdapter[] | null = null;
  const agents = () => (read ??= readAgents(paths));
  return {
    env,
    terminal,
    version: packageVersion(),
    isTemporary: false,
    newSessionId,
    now: () => systemClock.now(),
    knownAgents: () => knownAgents(agents()),
    detectAgents: async (names) => (await import('./cli-agents.js')).detectAgents(env, agents(), names),
    detectSurroundings: async () => (await import('./cli-agents.js')).detectSurroundings(env),
    diagnose: async () => (await import('./doctor.js')).runDoctor(env, terminal.interrupted),
    mend: async (mendable) => (await import('./doctor.js')).runMending(env, mendable),
    listSessions: (limit) => readSessions(env, limit),
    examineProject: async (project, options) =>
      (await import('./examine-project.js')).examineProject(env, project, options),
    trustProject: (project) => trustProject(paths, project, now()),
    consentToCommands: (project, commands) =>
      consentToCommands(paths, project, { commands: commands.map(({ command }) => command), at: now() }),
    async startSession(plan) {
      const { startSupervisor } = await import('./start-supervisor.js');
      const ready = await startSupervisor(plan, { paths, env });
      return { sessionId: ready.session_id, baseStatement: ready.base, directory: ready.directory };
    },
    hasTmux: async () => (await findProgram(['tmux'], env)) !== null,
    superviseHere: async (plan, ready) =>
      (await import('./foreground-session.js')).superviseHere(plan, {
        ...{ paths, env, agents: agents(), interrupted: terminal.interrupted, ready },
      }),
    whereWorkIs: (sessionId) => whereWorkIs(env, sessionId),
    async takeUpSession({ sessionId, terminal: size, killTmux, addition }) {
      const { takeUpSupervisor } = await import('./start-supervisor.js');
      const order = { session_id: sessionId, terminal: size, kill_tmux: killTmux, addition };
      await takeUpSupervisor(order, { paths, env });
    },
    findSession: (prefix) => findSession(env, prefix),
    call: (sessionId, operation, input) =>
      callSession(env, sessionId, { operation: operation.name, reads: operation.effect === 'read', input }),
    report: (sessionId, options) => reportOf(env, sessionId, options),
    events: (sessionId, options) => sessionEvents(env, sessionId, options),
    settled: (sessionId, limitMs) => settled(env, sessionId, limitMs),
    attach: (sessionId, options) => attachTerminal(env, sessionId, terminal, options),
    attachCommand: (sessionId) => panesCommand(env, sessionId, { foreignHome }),
    completionScript: async (shell) => (await import('./completion.js')).agentorchestrScript(shell, agents()),
    prepareDemo: async (options) =>
      (await import('./demo.js')).prepareDemo({
        env,
        terminal,
        ...options,
        createHost: (own) => createCliHost({ env: own, terminal, foreignHome: true }),
      }),
  };
}
