import { fact } from '../services/engine/deps.js';
import { createIntegration, recordSession, startLead } from '../services/supervise/create-session.js';
import type { SessionOrigin } from '../services/supervise/end-session.js';
import { followManual, startManual } from '../services/supervise/manual.js';
import type { SessionPlan } from '../services/supervise/plan.js';
import { becomeReachable, followPlace, goLive, supervisorStarted } from './reach-session.js';
import type { SessionParts } from './session-parts.js';
import { type Beginning, type Opening } from './supervise-session.js';

/** A new session: base, row, port, tmux server, integration worktree, lead; or, in manual mode, its one worker. */
export const newSession: Beginning = { undo: true, begin };

async function begin(opening: Opening): Promise<SessionOrigin> {
  const { parts, context, server, options } = opening;
  const { plan } = options;
  const origin = await fixBase(plan, parts);
  recordSession(context, plan, origin);
  const port = await server.listen(0);
  if (port === null) throw new Error('no port is free');
  supervisorStarted(opening, port);
  const { socket } = await parts.backend.open();
  const place = { directory: parts.places.directory, ...(socket === null ? {} : { tmux_socket: socket }) };
  const subject = { session_id: plan.session_id, source: 'supervisor', evidence: 'process' } as const;
  parts.store.append(fact('session.updated', subject, place));
  followPlace(opening, socket);
  const live = await goLive(opening, port);
  await becomeReachable(opening, port);
  if (plan.mode === 'manual') {
    await startManual(context, plan);
    followManual(context, origin.base, opening.end);
    return origin;
  }
  const integration = await createIntegration(context, origin.base);
  await startLead(context, live, origin.base, integration);
  return origin;
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
