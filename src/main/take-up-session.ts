import { isServerAlive } from '../backends/tmux/attach.js';
import { delay } from '../core/clock.js';
import type { SessionRow } from '../core/state/rows.js';
import { systemClock } from '../platform/clock.js';
import type { SessionOrigin } from '../services/supervise/end-session.js';
import { findAgents, notResumable, takeUpSession } from '../services/supervise/take-up.js';
import { becomeReachable, followPlace, goLive, supervisorStarted } from './reach-session.js';
import { readLastControl } from './session-control.js';
import type { SessionServer } from './session-server.js';
import type { Beginning, Opening } from './supervise-session.js';

/** A port that a dying connection still holds is free soon. */
const PORT_TRIES = 20;
const PORT_PAUSE_MS = 100;

/** A session whose supervisor died: everything is left as it is unless it can be taken up. */
export function leftSession(row: SessionRow): Beginning {
  const socket = row.tmux_socket;
  if (socket === null)
    throw notResumable({ sessionId: row.session_id }, 'it was not started to the end: it has no panes yet');
  return {
    undo: false,
    known: { socket, directory: row.directory },
    begin: (opening) => begin(opening, row.session_id, socket),
  };
}

async function begin(opening: Opening, sessionId: string, socketName: string): Promise<SessionOrigin> {
  const { parts, context, server, options, end } = opening;
  const row = parts.store.session(sessionId);
  if (row?.state !== 'active') throw notResumable({ sessionId }, `it is ${row?.state ?? 'gone'}`);
  // Before anything else: to open the place would make a new one.
  const alive = await isServerAlive({ socketName, env: options.env });
  if (alive === 'no') throw notResumable({ sessionId }, 'its tmux server is gone, and its agents with it');
  if (alive === 'unknown')
    throw notResumable({ sessionId }, `its tmux server does not answer at ${socketName}`, 'try again');
  const origin = await originOf(opening, row);
  const port = await samePort(opening, server);
  const { live: agents, socket } = await parts.backend.open();
  const found = await findAgents(context, parts.backend, agents);
  supervisorStarted(opening, port);
  followPlace(opening, socket);
  const live = await goLive(opening, port);
  await takeUpSession(context, live, found);
  await becomeReachable(opening, port);
  // It had decided, and its supervisor did not live to end the session.
  if (row.verdict !== null) end.verdict();
  return origin;
}

/** Agents know the port by its number. Throws SESSION_NOT_RESUMABLE when somebody else has it by now. */
async function samePort({ parts, options }: Opening, server: SessionServer): Promise<number> {
  const sessionId = options.plan.session_id;
  const last = await readLastControl(parts.places.data);
  if (last === null) throw notResumable({ sessionId }, 'nothing says on which port its agents call');
  for (let tries = 1; tries <= PORT_TRIES; tries++) {
    if ((await server.listen(last.port)) !== null) return last.port;
    await delay(systemClock, PORT_PAUSE_MS);
  }
  throw notResumable(
    { sessionId },
    `its port ${last.port} is used by another program`,
    'its agents know that port: end the program that uses it, then resume again. Another port, with agents started anew, comes with a later release',
  );
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
