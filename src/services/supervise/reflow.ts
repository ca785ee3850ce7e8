import type { Reflowed, TerminalSize } from '../../backends/contract.js';
import { fact } from '../engine/deps.js';
import { requireLive, type SessionContext } from '../session-context.js';

/** Arranges the places of the agents anew, and records where each of them is then. */
export async function reflow(session: SessionContext, terminal: TerminalSize): Promise<Reflowed> {
  const { store, sessionId } = session;
  const reflowed = await requireLive(session).backend.reflow(terminal);
  const moved = reflowed.placed.filter(({ workerId, window }) => {
    const worker = store.worker(sessionId, workerId);
    return worker !== null && worker.window !== null && worker.window !== window;
  });
  store.append(
    ...moved.map(({ workerId, window }) =>
      fact(
        'worker.moved',
        { session_id: sessionId, worker_id: workerId, source: 'tmux', evidence: 'process' },
        { window },
      ),
    ),
  );
  return reflowed;
}
