import { join } from 'node:path';
import { findAgent, guardVariables } from '../agents/registry.js';
import { createTmuxBackend } from '../backends/tmux/backend.js';
import { OrchestratorError } from '../core/errors/error.js';
import { LEAD_ID } from '../core/ids.js';
import { createGit } from '../git/create-git.js';
import { systemClock } from '../platform/clock.js';
import { ensurePrivateDirectory } from '../platform/files.js';
import { newId } from '../platform/ids.js';
import { ownIdentity } from '../platform/identity.js';
import { createMutex } from '../platform/locks.js';
import { createLogger } from '../platform/logger.js';
import type { Paths } from '../platform/paths.js';
import { createRedactor } from '../platform/redact.js';
import { createTokens } from '../platform/tokens.js';
import { fact } from '../services/engine/deps.js';
import { Engine } from '../services/engine/engine.js';
import { workerDirectory, type LiveSession, type SessionContext } from '../services/session-context.js';
import { watchForEnd, type EndSignals } from '../services/supervise/await-end.js';
import { createIntegration, recordSession, startLead } from '../services/supervise/create-session.js';
import { endSession } from '../services/supervise/end-session.js';
import { followLabels } from '../services/supervise/labels.js';
import type { SessionPlan } from '../services/supervise/plan.js';
import { VerifyJobs } from '../services/supervise/verify-jobs.js';
import { openStore } from '../store/open-store.js';
import { sessionPlaces } from './places.js';
import { sessionSecret, writeControl } from './session-control.js';
import { SessionServer } from './session-server.js';
import { commandEnvironment, OWN_PREFIXES } from './user-environment.js';

export const TOKEN_VARIABLE = 'AGENTORCHESTR_TOKEN';

export interface SupervisorOptions {
  readonly plan: SessionPlan;
  readonly paths: Paths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  onReady(ready: { session_id: string; base: string; directory: string }): void;
  /** Registers what a TERM or INT to this process does. */
  onSignal(listener: () => void): void;
}

/** Runs one session from its row to its end. Composition only: every rule is in services. */
export async function superviseSession(options: SupervisorOptions): Promise<void> {
  const { plan, paths, env } = options;
  const { session_id: sessionId } = plan;
  const places = sessionPlaces(paths, plan.project, sessionId);
  for (const folder of [paths.data, places.data, places.directory, join(places.directory, 'workers')])
    await ensurePrivateDirectory(folder);
  const redactor = createRedactor();
  const secret = await sessionSecret(places.data);
  redactor.add(secret);
  const logger = createLogger({
    level: env['AGENTORCHESTR_LOG_LEVEL'] ?? 'info',
    destination: join(places.data, 'supervisor.log'),
    redactor,
  });
  const clock = systemClock;
  const store = openStore({ path: paths.database, clock });
  const owner = ownIdentity();
  const lease = store.acquireLease(sessionId, owner);
  if (!lease.acquired)
    throw new OrchestratorError('SESSION_OWNED', { session: sessionId, pid: lease.holder.pid });
  const git = createGit({ env, clock, logger });
  const tokens = createTokens(secret, sessionId);
  const server = new SessionServer({ tokens, version: options.version });

  const context: SessionContext = {
    sessionId,
    store,
    git,
    clock,
    logger,
    places,
    get live() {
      return live;
    },
    redact: (text) => redactor.redact(text),
    newId,
  };
  let live: LiveSession | null = null;
  const requireOwnLive = () => {
    if (live === null) throw new Error('the session is not live yet');
    return live;
  };
  const end = watchForEnd(context, requireOwnLive);
  const backend = createTmuxBackend({
    sessionId,
    socketPrefix: env['AGENTORCHESTR_TMUX_SOCKET'] ?? 'agentorchestr',
    directory: join(places.directory, 'tmux'),
    env,
    guardVariables: [...guardVariables()],
    ownSecretPrefixes: [...OWN_PREFIXES],
    clock,
    logger,
    terminal: plan.terminal,
  });

  try {
    const facts = await git.inspectProject(plan.project);
    const base = await git.prepareBase({
      facts,
      sessionId,
      includeChanges: plan.include_changes,
      fetch: plan.fetch,
      importRoot: places.imported,
    });
    recordSession(context, plan, base);
    const port = await server.listen(0);
    store.append(
      fact(
        'supervisor.started',
        { session_id: sessionId, source: 'supervisor', evidence: 'process' },
        { pid: process.pid, port },
      ),
    );
    const { socket } = await backend.open();
    store.append(
      fact(
        'session.updated',
        { session_id: sessionId, source: 'supervisor', evidence: 'process' },
        { directory: places.directory, ...(socket === null ? {} : { tmux_socket: socket }) },
      ),
    );
    const gitEnvironment = await git.agentGitEnvironment({
      project: plan.project,
      directory: places.directory,
    });
    live = createLive({ options, context, backend, end, port, gitEnvironment, tokens });
    const session = live;
    server.serve(context);
    await writeControl(places.data, port, tokens.issue({ scope: 'client', workerId: null }));
    const stopLabels = followLabels(context, session);
    backend.onEvent((event) => {
      if (event.type !== 'place_lost') return;
      store.append(
        fact(
          'tmux.lost',
          { session_id: sessionId, source: 'tmux', evidence: 'process' },
          { socket: socket ?? '', reason: event.reason },
        ),
      );
      end.pause('the tmux server of the session is gone');
    });
    options.onSignal(() => end.pause('the supervisor was asked to stop'));
    const cancelLimit = startTimeLimit(plan, end);
    const integration = await createIntegration(context, base);
    await startLead(context, session, base, integration);
    options.onReady({ session_id: sessionId, base: base.statement, directory: places.directory });

    const outcome = await end.ended;
    cancelLimit();
    logger.info({ outcome }, 'the session ends');
    await endSession(context, session, outcome, { facts, base });
    stopLabels();
    session.engine.close();
  } catch (error) {
    failSession(context, error);
    throw error;
  } finally {
    await server.close().catch((error: unknown) => logger.warn({ err: error }, 'port not closed'));
    await backend
      .close({ destroy: plan.kill_tmux || live === null })
      .catch((error: unknown) => logger.warn({ err: error }, 'tmux not left'));
    await git.idle();
    store.releaseLease(sessionId, owner);
    store.close();
  }
}

function createLive(parts: {
  options: SupervisorOptions;
  context: SessionContext;
  backend: LiveSession['backend'];
  end: EndSignals;
  port: number;
  gitEnvironment: Readonly<Record<string, string>>;
  tokens: ReturnType<typeof createTokens>;
}): LiveSession {
  const { context, backend, end, port } = parts;
  const { plan, env } = parts.options;
  const { sessionId, store, git, clock, logger, places } = context;
  const commands = commandEnvironment(env);
  const engine = new Engine({
    sessionId,
    store,
    backend,
    clock,
    logger,
    newId,
    adapter: (name) => findAgent(name),
    workerDirectory: (workerId) => workerDirectory(places, workerId),
    onLeadStuck: () => logger.warn('the lead ended its turn and nothing can wake it'),
    onEnded: (workerId, status) => {
      if (workerId === LEAD_ID) end.leadEnded(status);
      else engine.pump(LEAD_ID);
    },
  });
  return {
    plan,
    backend,
    engine,
    verifyJobs: new VerifyJobs({
      sessionId,
      store,
      git,
      clock,
      logger,
      places,
      commandEnvironment: commands,
      newId,
    }),
    launching: new Map(),
    integrating: createMutex(),
    commandEnvironment: commands,
    agent: (name) => ({ adapter: findAgent(name), binary: plan.binaries[name] ?? '' }),
    finish: () => end.verdict(),
    pause: (reason) => end.pause(reason),
    agentAccess: (workerId) => ({
      mcpUrl: `http://127.0.0.1:${port}/mcp`,
      hookUrl: `http://127.0.0.1:${port}/hooks`,
      tokenVariable: TOKEN_VARIABLE,
      env: {
        ...parts.gitEnvironment,
        AGENTORCHESTR_SESSION: sessionId,
        AGENTORCHESTR_WORKER: workerId,
        [TOKEN_VARIABLE]: parts.tokens.issue(
          workerId === LEAD_ID ? { scope: 'lead', workerId } : { scope: 'worker', workerId },
        ),
      },
    }),
  };
}

function startTimeLimit(plan: SessionPlan, end: EndSignals): () => void {
  const seconds = plan.limits.session_timeout_s;
  return seconds === null ? () => undefined : systemClock.after(seconds * 1_000, () => end.timeout(seconds));
}

/** A session whose start failed is over; its row says why. */
function failSession(context: SessionContext, error: unknown): void {
  const row = context.store.session(context.sessionId);
  if (row === null || row.state !== 'active') return;
  const reason = error instanceof Error ? error.message : String(error);
  context.store.append(
    fact(
      'session.ended',
      { session_id: context.sessionId, source: 'supervisor', evidence: 'process' },
      { state: 'failed', summary: row.summary, reason },
    ),
  );
}
