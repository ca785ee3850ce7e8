import type { Store } from '../../../store/contract.js';
import { fact } from '../../engine/deps.js';
import { isPending } from '../../engine/instruct.js';

/** What lies in the inbox of the session whose agent calls: each notice is handed over once. */
export function takeInbox(store: Store, runId: string): string[] {
  return store.transaction((tx) => {
    const run = tx.run(runId);
    if (run === null) return [];
    const { session_id, worker_id } = run;
    const taken = tx
      .messages(session_id, worker_id)
      .filter((message) => message.kind === 'notice' && isPending(message));
    tx.append(
      ...taken.map(({ message_id }) =>
        fact(
          'message.submitted',
          { session_id, worker_id, source: 'mcp', evidence: 'protocol' },
          { message_id, how: 'tool result' },
        ),
      ),
    );
    return taken.map(({ text }) => text);
  });
}
