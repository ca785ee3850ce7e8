import type { AgentAdapter } from '../agents/contract.js';
import type { Paths } from '../platform/paths.js';
import { systemClock } from '../platform/clock.js';
import { newId } from '../platform/ids.js';
import type { LiveSession, SessionContext } from '../services/session-context.js';
import { watchForEnd, type EndSignals, type SessionEnd } from '../services/supervise/await-end.js';
import {
  abandonSession,
  endSession,
  farewell,
  type SessionOrigin,
} from '../services/supervise/end-session.js';
import { followLabels } from '../services/supervise/labels.js';
import type { SessionPlan } from '../services/supervise/plan.js';
import { watchSessionTime } from '../services/supervise/session-time.js';
import { openSessionParts, type KnownPlace, type SessionParts } from './session-parts.js';
import { leaveControl } from './session-control.js';
import { SessionServer } from './session-server.js';

export interface SupervisorOptions {
  readonly plan: SessionPlan;
  /** Every agent that this session may start, the person's own among them. */
  readonly agents: readonly AgentAdapter[];
  readonly paths: Paths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly version: string;
  onReady(ready: { session_id: string; base: string; directory: string }): void;
  /** Registers what a TERM or INT to this process does. */
  onSignal(listener: (reason: string) => void): void;
}

/** What a session is made live from; `begin-session.ts` makes a new one, `take-up-session.ts` finds one. */
export interface Opening {
  readonly options: SupervisorOptions;
  readonly parts: SessionParts;
  readonly context: SessionContext;
  readonly server: SessionServer;
  readonly end: EndSignals;
  /** Called as soon as agents can be driven; from then on the context is that of a live session. */
  goLive(live: LiveSession): void;
}

export interface Beginning {
  /** Where an earlier supervisor put the session; absent for a new one. */
  readonly known?: KnownPlace;
  /** When it fails: undo what a start made (true), or leave everything as it was found (false). */
  readonly undo: boolean;
  begin(opening: Opening): Promise<SessionOrigin>;
}

/** Runs one session from its beginning, or from where an earlier supervisor left it, to its end. */
export async function superviseSession(options: SupervisorOptions, beginning: Beginning): Promise<void> {
  const { plan } = options;
  const { known } = beginning;
  const parts = await openSessionParts({ ...options, ...(known === undefined ? {} : { known }) });
  const server = new SessionServer({ tokens: parts.tokens, version: options.version });
  const holder: { live: LiveSession | null } = { live: null };
  const context = createContext(plan, parts, holder);
  const live = () => {
    if (holder.live === null) throw new Error('the session is not live yet');
    return holder.live;
  };
  const end = watchForEnd(context, live);
  // Asked during the start, it is heeded as soon as there is something to pause.
  options.onSignal((reason) => end.pause(reason));
  let started = false;
  let stopLabels = () => undefined as void;
  let readers: Promise<void> = Promise.resolve();
  const goLive = (now: LiveSession) => {
    holder.live = now;
    stopLabels = followLabels(context, now);
  };
  try {
    const origin = await beginning.begin({ options, parts, context, server, end, goLive });
    started = true;
    options.onReady({
      session_id: plan.session_id,
      base: origin.base.statement,
      directory: parts.places.directory,
    });
    const outcome = await ended(context, plan, end);
    parts.logger.info({ outcome }, 'the session ends');
    await endSession(context, live(), outcome, origin);
    stopLabels();
    readers = farewell(context, live());
  } catch (error) {
    if (started || beginning.undo)
      await abandonSession(context, error, { started }).catch((again: unknown) =>
        parts.logger.error({ err: again }, 'session not closed'),
      );
    if (started) readers = farewell(context, live()).catch(() => undefined);
    throw error;
  } finally {
    holder.live?.engine.close();
    const destroy = started ? plan.kill_tmux : beginning.undo;
    await leave(parts, { options, server, readers, destroy });
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

async function ended(context: SessionContext, plan: SessionPlan, end: EndSignals): Promise<SessionEnd> {
  const { session_timeout_s: seconds } = plan.limits;
  const cancel =
    seconds === null ? () => undefined : watchSessionTime(context, seconds, () => end.timeout(seconds));
  const outcome = await end.ended;
  cancel();
  return outcome;
}

interface Leaving {
  readonly options: SupervisorOptions;
  readonly server: SessionServer;
  /** People who still look at how it ended. */
  readonly readers: Promise<void>;
  /** Of the place, with everything in it. */
  readonly destroy: boolean;
}

/** Leaves every room; nothing here may keep the next from being left. */
async function leave(parts: SessionParts, { options, server, readers, destroy }: Leaving): Promise<void> {
  const { logger, backend, git, store, owner } = parts;
  const warn = (what: string) => (error: unknown) => logger.warn({ err: error }, what);
  const leavePlace = async () => {
    const signalled = new Promise<void>((resolve) => options.onSignal(() => resolve()));
    await Promise.race([readers, signalled]);
    await backend.close({ destroy }).catch(warn('tmux not left'));
  };
  await server.close().catch(warn('port not closed'));
  if (destroy) await leavePlace();
  await git.idle().catch(warn('git still at work'));
  await leaveControl(parts.places.data).catch(warn('still said to be reachable'));
  store.releaseLease(options.plan.session_id, owner);
  store.close();
  // Whoever wants the session next need not wait for those who still read.
  if (!destroy) await leavePlace();
}
