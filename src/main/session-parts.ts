import { basename, dirname, join } from 'node:path';
import type { AgentAdapter } from '../agents/contract.js';
import { guardVariables } from '../agents/registry.js';
import { createTmuxBackend } from '../backends/tmux/backend.js';
import type { TurnBackend } from '../backends/contract.js';
import { createForegroundBackend } from '../backends/foreground/backend.js';
import { createHeadlessBackend } from '../backends/headless/backend.js';
import { logFile } from '../backends/headless/turn-files.js';
import { createMixedBackend } from '../backends/mixed/backend.js';
import { OrchestratorError } from '../core/errors/error.js';
import { createGit } from '../git/create-git.js';
import type { Git } from '../git/contract.js';
import { systemClock } from '../platform/clock.js';
import { ensureFile, ensurePrivateDirectory } from '../platform/files.js';
import { ownIdentity, type ProcessIdentity } from '../platform/identity.js';
import { createLogger, type Logger } from '../platform/logger.js';
import type { Paths } from '../platform/paths.js';
import { createRedactor, type Redactor } from '../platform/redact.js';
import { createTokens, type Tokens } from '../platform/tokens.js';
import { workerDirectory, type SessionPlaces } from '../services/places.js';
import type { SessionPlan } from '../services/supervise/plan.js';
import type { Store } from '../store/contract.js';
import { openStore } from '../store/open-store.js';
import { sessionPlaces } from './places.js';
import { sessionSecret } from './session-control.js';
import { OWN_PREFIXES } from './user-environment.js';

export interface SessionParts {
  readonly places: SessionPlaces;
  readonly redactor: Redactor;
  readonly logger: Logger;
  readonly store: Store;
  readonly git: Git;
  readonly tokens: Tokens;
  readonly backend: TurnBackend;
  /** This process as the holder of the session's lease. */
  readonly owner: ProcessIdentity;
}

/** Opens every room that a session needs and takes its lease. Throws SESSION_OWNED, UNSAFE_DIRECTORY, FOLDER_NOT_MADE, STORE_UNAVAILABLE. */
export async function openSessionParts(options: {
  plan: SessionPlan;
  agents: readonly AgentAdapter[];
  paths: Paths;
  env: Readonly<Record<string, string | undefined>>;
  /** Where an earlier supervisor of the session put it; this process's own environment may say otherwise. */
  known?: KnownPlace;
}): Promise<SessionParts> {
  const { plan, agents, paths, env, known } = options;
  const sessionId = plan.session_id;
  const usual = sessionPlaces(paths, plan.project, sessionId);
  const places = { ...usual, directory: known?.directory ?? usual.directory };
  for (const folder of [paths.data, places.data, places.directory, join(places.directory, 'workers')])
    await ensurePrivateDirectory(folder);
  const secret = await sessionSecret(places.data);
  const redactor = createRedactor();
  redactor.add(secret);
  const logger = createLogger({
    level: env['AGENTORCHESTR_LOG_LEVEL'] ?? 'info',
    destination: join(places.data, 'supervisor.log'),
    redactor,
  });
  const store = openStore({ path: paths.database, clock: systemClock, redact: redactor.redactKnown });
  const owner = ownIdentity();
  const lease = store.acquireLease(sessionId, owner);
  if (!lease.acquired)
    throw new OrchestratorError('SESSION_OWNED', { session: sessionId, pid: lease.holder.pid });
  const inherited = {
    guardVariables: guardVariables(agents),
    ownPrefixes: OWN_PREFIXES,
    clock: systemClock,
    logger,
  };
  const git = createGit({ env, clock: systemClock, logger });
  const tokens = createTokens(secret, sessionId);
  const parts = { places, redactor, logger, store, git, tokens, owner };
  if (plan.worker_backend === 'foreground')
    return { ...parts, backend: createForegroundBackend({ ...inherited, env }) };
  const panes = createTmuxBackend({
    ...inherited,
    sessionId,
    directory: join(places.directory, 'tmux'),
    ...(known === undefined
      ? { env, socketPrefix: env['AGENTORCHESTR_TMUX_SOCKET'] ?? 'agentorchestr' }
      : socketSettings(sessionId, known.socket, env)),
    terminal: plan.terminal,
    hasLead: plan.mode !== 'manual',
    readingMs: plan.end_shown_s * 1_000,
    ...(plan.tmux_user_config === null ? {} : { userConfig: plan.tmux_user_config }),
  });
  const directoryOf = (workerId: string) => workerDirectory(places, workerId);
  const backend = createMixedBackend({
    panes,
    headless: createHeadlessBackend({ ...inherited, env, workerDirectory: directoryOf }),
    logFile: (workerId) => ensureFile(logFile(directoryOf(workerId), workerId)),
    logger,
  });
  return { ...parts, backend };
}

export interface KnownPlace {
  readonly directory: string | null;
  readonly socket: string;
}

/** What makes tmux find `<TMUX_TMPDIR>/tmux-<uid>/<prefix>-<session>` again. */
function socketSettings(
  sessionId: string,
  socket: string,
  env: Readonly<Record<string, string | undefined>>,
): { env: Readonly<Record<string, string | undefined>>; socketPrefix: string } {
  return {
    env: { ...env, TMUX_TMPDIR: dirname(dirname(socket)) },
    socketPrefix: basename(socket).slice(0, -`-${sessionId}`.length),
  };
}
