import { LEAD_ID } from '../../core/ids.js';
import { randomNonce } from '../../platform/ids.js';
import { fact, openRun, type FactSubject } from '../engine/deps.js';
import { sessionRow, type LiveSession, type SessionContext } from '../session-context.js';
import { ensureWorktree } from './ensure-worktree.js';
import { launchAgent } from './launch-agent.js';
import { workerTable } from './restart-notice.js';
import { undeliveredOf } from './undelivered.js';

export interface Return {
  /** What the lead is told first. */
  readonly why: string;
  /** What the person adds to the goal. */
  readonly addition?: string | null;
}

const DIED: Return = { why: 'Your process ended and was started again.' };

/**
 * A lead that is gone gets a new process: its own conversation where it has one, and what it must know in any case.
 * Throws WORKTREE_INVALID, SPAWN_FAILED.
 */
export async function relaunchLead(
  session: SessionContext,
  live: LiveSession,
  what: Return = DIED,
): Promise<void> {
  const lead = session.store.worker(session.sessionId, LEAD_ID);
  if (lead === null) throw new Error('the lead has no row');
  await ensureWorktree(session, lead);
  const { sessionId, store } = session;
  const runId = store.transaction((tx) => {
    const open = openRun(tx, sessionId, LEAD_ID);
    // An earlier supervisor came as far as this.
    if (open !== null) return open.run_id;
    const [run_id, message_id] = [session.newId(), session.newId()];
    const subject: FactSubject = {
      ...{ session_id: sessionId, worker_id: LEAD_ID, run_id },
      ...{ source: 'supervisor', evidence: 'process' },
    };
    const first = tx.messages(sessionId, LEAD_ID).find((message) => message.kind === 'task');
    const now = situation(session, what);
    const text = lead.thread_id === null ? `${first?.text ?? ''}\n\n${now}` : now;
    tx.append(
      fact('message.accepted', subject, {
        ...{ message_id, kind: 'task', sender: 'agentorchestr', text, about: null },
      }),
      fact('run.queued', subject, {
        message_id,
        number: tx.runs(sessionId, LEAD_ID).length + 1,
        nonce: randomNonce(),
        retry_of: lead.last_run_id,
      }),
      fact('message.queued', subject, { message_id }),
    );
    return run_id;
  });
  await launchAgent(session, live, lead, { runId, resumeThreadId: lead.thread_id });
}

function situation(session: SessionContext, { why, addition }: Return): string {
  const row = sessionRow(session);
  const workers = workerTable(session).map((line) => `- ${line}`);
  const undelivered = undeliveredOf(session, LEAD_ID);
  return [
    `[agentorchestr] ${why} Nothing of the session is lost; go on from here.`,
    `Goal: ${row.goal}`,
    workers.length === 0 ? 'No worker was spawned yet.' : `Workers:\n${workers.join('\n')}`,
    row.last_progress === null ? '' : `Your last progress note: ${row.last_progress}`,
    ...undelivered.map((text) => `This was said to you and had not reached you:\n${text}`),
    typeof addition === 'string' ? `The person adds to the goal:\n${addition}` : '',
  ]
    .filter((line) => line !== '')
    .join('\n');
}
