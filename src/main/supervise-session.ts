import type { Paths } from '../platform/paths.js';
import { systemClock } from '../platform/clock.js';
import { newId } from '../platform/ids.js';
import { fact, type FactSubject } from '../services/engine/deps.js';
import type { LiveSession, SessionContext } from '../services/session-context.js';
import { watchForEnd, type EndSignals, type SessionEnd } from '../services/supervise/await-end.js';
import { createIntegration, recordSession, startLead } from '../services/supervise/create-session.js';
import { abandonSession, endSession, type SessionOrigin } from '../services/supervise/end-session.js';
import { followLabels } from '../services/supervise/labels.js';
import type { SessionPlan } from '../services/supervise/plan.js';
import { createLive } from './live-session.js';
import { writeControl } from './session-control.js';
import { openSessionParts, type SessionParts } from './session-parts.js';
import { SessionServer } from './session-server.js';

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
  const { plan } = options;
  const parts = await openSessionParts(options);
  const server = new SessionServer({ tokens: parts.tokens, version: options.version });
  const holder: { live: LiveSession | null } = { live: null };
  const context = createContext(plan, parts, holder);
  const end = watchForEnd(context, () => {
    if (holder.live === null) throw new Error('the session is not live yet');
    return holder.live;
  });
  // Asked during the start, it is heeded as soon as there is something to pause.
  options.onSignal(() => end.pause('the supervisor was asked to stop'));
  let started = false;
  try {
    const origin = await fixBase(plan, parts);
    recordSession(context, plan, origin.base);
    const live = await goLive({ options, parts, context, server, end });
    holder.live = live;
    server.serve(context);
    const stopLabels = followLabels(context, live);
    const integration = await createIntegration(context, origin.base);
    await startLead(context, live, origin.base, integration);
    started = true;
    options.onReady({
      session_id: plan.session_id,
      base: origin.base.statement,
      directory: parts.places.directory,
    });
    const outcome = await ended(plan, end);
    parts.logger.info({ outcome }, 'the session ends');
    await endSession(context, live, outcome, origin);
    stopLabels();
  } catch (error) {
    await abandonSession(context, error, { started }).catch((again: unknown) =>
      parts.logger.error({ err: again }, 'session not closed'),
    );
    throw error;
  } finally {
    holder.live?.engine.close();
    await leave(plan.session_id, parts, server, plan.kill_tmux || !started);
  }
}

function createContext(
  plan: SessionPlan,
  parts: SessionParts,
  holder: { live: LiveSession | null },
): SessionContext {
  const { store, git, logger, places, redactor } = parts;
  return {
    sessionId: plan.session_id,
    store,
    git,
    clock: systemClock,
    logger,
    places,
    get live() {
      return holder.live;
    },
    redact: (text) => redactor.redact(text),
    newId,
  };
}

async function fixBase(plan: SessionPlan, { git, places }: SessionParts): Promise<SessionOrigin> {
  const facts = await git.inspectProject(plan.project);
  const base = await git.prepareBase({
    facts,
    sessionId: plan.session_id,
    includeChanges: plan.include_changes,
    fetch: plan.fetch,
    importRoot: places.imported,
  });
  return { facts, base };
}

/** Port, tmux server and control file: everything an agent or a person reaches the session by. */
async function goLive(all: {
  options: SupervisorOptions;
  parts: SessionParts;
  context: SessionContext;
  server: SessionServer;
  end: EndSignals;
}): Promise<LiveSession> {
  const { parts, context, server, end } = all;
  const { plan, env } = all.options;
  const { store, backend, places, tokens, git } = parts;
  const subject: FactSubject = { session_id: plan.session_id, source: 'supervisor', evidence: 'process' };
  const port = await server.listen(0);
  store.append(fact('supervisor.started', subject, { pid: process.pid, port }));
  const { socket } = await backend.open();
  const place = { directory: places.directory, ...(socket === null ? {} : { tmux_socket: socket }) };
  store.append(fact('session.updated', subject, place));
  backend.onEvent((event) => {
    if (event.type !== 'place_lost') return;
    const lost = { socket: socket ?? '', reason: event.reason };
    store.append(fact('tmux.lost', { ...subject, source: 'tmux' }, lost));
    end.pause('the tmux server of the session is gone');
  });
  const gitEnvironment = await git.agentGitEnvironment({
    project: plan.project,
    directory: places.directory,
  });
  await writeControl(places.data, port, tokens.issue({ scope: 'client', workerId: null }));
  return createLive({ plan, env, context, backend, end, port, gitEnvironment, tokens });
}

async function ended(plan: SessionPlan, end: EndSignals): Promise<SessionEnd> {
  const seconds = plan.limits.session_timeout_s;
  const cancel =
    seconds === null ? () => undefined : systemClock.after(seconds * 1_000, () => end.timeout(seconds));
  const outcome = await end.ended;
  cancel();
  return outcome;
}

/** Leaves every room; nothing here may keep the next from being left. */
async function leave(
  sessionId: string,
  parts: SessionParts,
  server: SessionServer,
  destroy: boolean,
): Promise<void> {
  const { logger, backend, git, store, owner } = parts;
  const warn = (what: string) => (error: unknown) => logger.warn({ err: error }, what);
  await server.close().catch(warn('port not closed'));
  await backend.close({ destroy }).catch(warn('tmux not left'));
  await git.idle().catch(warn('git still at work'));
  store.releaseLease(sessionId, owner);
  store.close();
}
