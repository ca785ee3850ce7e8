import { isServerAlive } from '../backends/tmux/attach.js';
import { delay } from '../core/clock.js';
import type { SessionRow } from '../core/state/rows.js';
import { systemClock } from '../platform/clock.js';
import { fact } from '../services/engine/deps.js';
import type { SessionOrigin } from '../services/supervise/end-session.js';
import { followManual } from '../services/supervise/manual.js';
import { hasBegun } from '../services/supervise/shown-state.js';
import { findAgents, notResumable, takeUpSession } from '../services/supervise/take-up.js';
import type { SessionPlan } from '../services/supervise/plan.js';
import type { Store } from '../store/contract.js';
import { becomeReachable, followPlace, goLive, supervisorStarted } from './reach-session.js';
import { readLastControl, renewSecret } from './session-control.js';
import type { SessionServer } from './session-server.js';
import type { Beginning, Opening } from './supervise-session.js';

/** A port that a dying connection still holds is free soon. */
const PORT_TRIES = 20;
const PORT_PAUSE_MS = 100;
const START_AGAIN = 'start it again with its goal; nothing was done yet';

/**
 * A session that nobody runs: its supervisor died, or it was paused, stopped or failed. Everything is left as it is
 * unless it can be taken up.
 */
export function leftSession(row: SessionRow, addition: string | null): Beginning {
  const { tmux_socket: socket, directory } = row;
  return {
    undo: false,
    ...(socket === null ? {} : { known: { socket, directory } }),
    begin: (opening) => begin(opening, addition),
  };
}

async function begin(opening: Opening, addition: string | null): Promise<SessionOrigin> {
  const { parts, context, server, options, end } = opening;
  const { store } = parts;
  const sessionId = options.plan.session_id;
  const row = requireResumable(store, options.plan);
  // Before anything else: to open the place makes a new one where there is none.
  const [alive, origin] = await Promise.all([
    row.tmux_socket === null ? 'no' : isServerAlive({ socketName: row.tmux_socket, env: options.env }),
    originOf(opening, row),
  ]);
  if (alive === 'unknown')
    throw notResumable({ sessionId }, `its tmux server does not answer at ${row.tmux_socket}`, 'try again');
  const { port, unreachable } = await findPort(opening, server);
  const { live: agents, socket } = await parts.backend.open();
  recordReturn(opening, row, socket);
  const found = await findAgents(context, parts.backend, agents);
  supervisorStarted(opening, port);
  followPlace(opening, socket);
  const live = await goLive(opening, port);
  const placeGone =
    alive === 'no' && row.state === 'active' ? 'the tmux server of the session was gone' : null;
  const back = { placeGone, unreachable, addition, why: whyBack(row, placeGone) };
  await takeUpSession(context, live, found, back);
  await becomeReachable(opening, port);
  // It had decided, and its supervisor did not live to end the session.
  if (store.session(sessionId)?.verdict !== null) end.verdict();
  else if (options.plan.mode === 'manual') followManual(context, origin.base, end);
  return origin;
}

/** Throws SESSION_NOT_RESUMABLE. */
function requireResumable(store: Store, plan: SessionPlan): SessionRow {
  const { session_id: sessionId } = plan;
  const row = store.session(sessionId);
  if (row === null) throw notResumable({ sessionId }, 'it is gone');
  if (row.state === 'done') throw notResumable({ sessionId }, 'it is done');
  if (!hasBegun(store, row))
    throw notResumable({ sessionId }, 'it was not started to the end: it has no agent yet', START_AGAIN);
  return row;
}

/** The session is active again, and where it is now is known. */
function recordReturn({ parts, options }: Opening, row: SessionRow, socket: string | null): void {
  const subject = { session_id: options.plan.session_id, source: 'supervisor', evidence: 'process' } as const;
  const { directory } = parts.places;
  const isElsewhere = row.directory !== directory || row.tmux_socket !== socket;
  const ended = [row.state, row.reason ?? row.summary].filter((word) => word !== '').join(': ');
  const place = { directory, ...(socket === null ? {} : { tmux_socket: socket }) };
  parts.store.append(
    ...(row.state === 'active' ? [] : [fact('session.resumed', subject, { reason: ended })]),
    ...(isElsewhere ? [fact('session.updated', subject, place)] : []),
  );
}

function whyBack({ state, reason, verdict, summary }: SessionRow, placeGone: string | null): string {
  if (verdict === 'failed')
    return `You had given the goal up (${summary}), and the person wants you to go on.`;
  if (state !== 'active')
    return `The session had ended (${reason ?? state}) and goes on; your process was started again.`;
  return placeGone === null
    ? 'Your process ended while no supervisor was there, and was started again.'
    : `Everything was broken off (${placeGone}); your process was started again.`;
}

/** Agents know the port by its number. Where another program has it, they and what they know have to be new. */
async function findPort(
  { parts, options }: Opening,
  server: SessionServer,
): Promise<{ port: number; unreachable: string | null }> {
  const last = await readLastControl(parts.places.data);
  for (let tries = 1; last !== null && tries <= PORT_TRIES; tries++) {
    if ((await server.listen(last.port)) !== null) return { port: last.port, unreachable: null };
    await delay(systemClock, PORT_PAUSE_MS);
  }
  // Whoever has the port now has been sent our tokens.
  const secret = await renewSecret(parts.places.data);
  parts.redactor.add(secret);
  parts.tokens.renew(secret);
  const port = await server.listen(0);
  if (port === null) throw notResumable({ sessionId: options.plan.session_id }, 'no port is free');
  const was =
    last === null
      ? 'the port of its agents is not known any more'
      : `its port ${last.port} is used by another program`;
  return { port, unreachable: was };
}

/** What the session started from, as it was then. */
async function originOf({ parts, options }: Opening, row: SessionRow): Promise<SessionOrigin> {
  const facts = await parts.git.inspectProject(options.plan.project);
  const branch = row.options['branch'];
  return {
    facts: { ...facts, branch: typeof branch === 'string' ? branch : null },
    base: {
      repository: row.repository,
      commit: row.base_commit,
      subdirectory: row.subdirectory,
      statement: row.base_statement,
      imported: row.options['imported'] === true,
    },
  };
}
