import { LEAD_ID } from '../../core/ids.js';
import { randomNonce } from '../../platform/ids.js';
import { fact } from '../engine/deps.js';
import { sessionRow, type LiveSession, type SessionContext } from '../session-context.js';
import { launchAgent } from './launch-agent.js';
import { workerTable } from './restart-notice.js';

/** A lead that died gets one new process: its own conversation where it has one, and what it must know in any case. */
export async function relaunchLead(session: SessionContext, live: LiveSession): Promise<void> {
  const lead = session.store.worker(session.sessionId, LEAD_ID);
  if (lead === null) throw new Error('the lead has no row');
  const [runId, message_id] = [session.newId(), session.newId()];
  const subject = {
    session_id: session.sessionId,
    worker_id: LEAD_ID,
    run_id: runId,
    source: 'supervisor' as const,
    evidence: 'process' as const,
  };
  const runs = session.store.runs(session.sessionId, LEAD_ID).length;
  const first = session.store.messages(session.sessionId, LEAD_ID).find((message) => message.kind === 'task');
  const text = lead.thread_id === null ? `${first?.text ?? ''}\n\n${situation(session)}` : situation(session);
  session.store.append(
    fact('message.accepted', subject, {
      message_id,
      kind: 'task',
      sender: 'agentorchestr',
      text,
      about: null,
    }),
    fact('run.queued', subject, {
      message_id,
      number: runs + 1,
      nonce: randomNonce(),
      retry_of: lead.last_run_id,
    }),
    fact('message.queued', subject, { message_id }),
  );
  await launchAgent(session, live, lead, { runId, resumeThreadId: lead.thread_id });
}

function situation(session: SessionContext): string {
  const row = sessionRow(session);
  const workers = workerTable(session).map((line) => `- ${line}`);
  return [
    '[agentorchestr] Your process ended and was started again. Nothing of the session is lost; go on from here.',
    `Goal: ${row.goal}`,
    workers.length === 0 ? 'No worker was spawned yet.' : `Workers:\n${workers.join('\n')}`,
    row.last_progress === null ? '' : `Your last progress note: ${row.last_progress}`,
  ]
    .filter((line) => line !== '')
    .join('\n');
}
