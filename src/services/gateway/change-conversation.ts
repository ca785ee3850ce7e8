import type { NewEvent } from '../../core/events/index.js';
import { hashOf } from '../../platform/ids.js';
import type { Transaction } from '../../store/contract.js';
import { fact, type FactSubject } from '../engine/deps.js';
import { findConversation, optionsOf } from './conversation-row.js';

export interface ConversationChange {
  readonly title?: string | undefined;
  readonly metadata?: Record<string, unknown> | undefined;
  readonly state?: 'active' | 'idle' | 'archived' | undefined;
}

/** What is so already makes no event. Throws SESSION_NOT_FOUND. */
export function changeConversation(tx: Transaction, sessionId: string, change: ConversationChange): void {
  const row = findConversation(tx, sessionId);
  const subject: FactSubject = { session_id: sessionId, source: 'rest', evidence: 'protocol' };
  const { state } = change;
  const title = change.title === row.goal ? undefined : change.title;
  const isNoted =
    change.metadata !== undefined && hashOf(change.metadata) === hashOf(optionsOf(row).metadata);
  const metadata = isNoted ? undefined : change.metadata;
  const events: NewEvent[] = [];
  if (title !== undefined || metadata !== undefined)
    events.push(
      fact('session.updated', subject, {
        ...(title === undefined ? {} : { title }),
        ...(metadata === undefined ? {} : { metadata }),
      }),
    );
  const isArchived = row.state !== 'active';
  if (state === 'archived' && !isArchived)
    events.push(fact('session.ended', subject, { state: 'done', summary: 'archived' }));
  if (state !== undefined && state !== 'archived' && isArchived)
    events.push(fact('session.resumed', subject, { reason: row.state }));
  tx.append(...events);
}
