import { OrchestratorError } from '../../core/errors/error.js';
import type { NewEvent } from '../../core/events/index.js';
import { hashOf } from '../../platform/ids.js';
import type { Transaction } from '../../store/contract.js';
import { fact, type FactSubject } from '../engine/deps.js';
import { findConversation, optionsOf } from './conversation-row.js';

export interface ConversationChange {
  readonly title?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  /** Whom its runs ask from now on. */
  readonly providers?: readonly string[] | undefined;
  readonly state?: 'active' | 'idle' | 'archived' | undefined;
}

/** What is so already makes no event. Throws SESSION_NOT_FOUND, SESSION_BUSY. */
export function changeConversation(tx: Transaction, sessionId: string, change: ConversationChange): void {
  const row = findConversation(tx, sessionId);
  const subject: FactSubject = { session_id: sessionId, source: 'rest', evidence: 'protocol' };
  const { state } = change;
  const title = change.title === row.goal ? undefined : change.title;
  const isNoted =
    change.metadata !== undefined && hashOf(change.metadata) === hashOf(optionsOf(row).metadata);
  const metadata = isNoted ? undefined : change.metadata;
  const events: NewEvent[] = [];
  const isAsked = change.providers !== undefined && hashOf(change.providers) !== hashOf(row.worker_agents);
  const providers = isAsked ? change.providers : undefined;
  if (providers !== undefined) requireIdle(tx, sessionId);
  if (title !== undefined || metadata !== undefined || providers !== undefined)
    events.push(
      fact('session.updated', subject, {
        ...(title === undefined ? {} : { title }),
        ...(metadata === undefined ? {} : { metadata }),
        ...(providers === undefined ? {} : { providers: [...providers] }),
      }),
    );
  const isArchived = row.state !== 'active';
  if (state === 'archived' && !isArchived)
    events.push(fact('session.ended', subject, { state: 'done', summary: 'archived' }));
  if (state !== undefined && state !== 'archived' && isArchived)
    events.push(fact('session.resumed', subject, { reason: row.state }));
  tx.append(...events);
}

/** Whoever is at it goes on with it to the end. */
function requireIdle(tx: Transaction, sessionId: string): void {
  const run = tx.openRun(sessionId);
  if (run !== null)
    throw new OrchestratorError('SESSION_BUSY', { session: sessionId, run: run.run_id, state: run.state });
}
