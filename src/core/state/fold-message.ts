import type { StoredEvent } from '../events/index.js';
import type { MessageRow } from './rows.js';

/** A receipt: the visible life of one instruction (DESIGN §6). */
export function foldMessage(row: MessageRow | null, event: StoredEvent): MessageRow | null {
  if (event.type === 'message.accepted') return acceptMessage(event);
  if (row === null) return null;
  const next = change(event);
  return next === null ? row : { ...row, ...next, evidence: event.evidence, updated_at: event.at };
}

function acceptMessage(event: Extract<StoredEvent, { type: 'message.accepted' }>): MessageRow {
  return {
    message_id: event.data.message_id,
    session_id: event.session_id,
    worker_id: event.worker_id ?? '',
    run_id: event.run_id ?? null,
    kind: event.data.kind,
    sender: event.data.sender,
    text: event.data.text,
    about: event.data.about,
    state: 'accepted',
    detail: null,
    evidence: event.evidence,
    accepted_seq: event.seq,
    accepted_at: event.at,
    queued_at: null,
    typed_at: null,
    submitted_at: null,
    started_at: null,
    answered_at: null,
    updated_at: event.at,
  };
}

function change(event: StoredEvent): Partial<MessageRow> | null {
  switch (event.type) {
    case 'message.queued':
      return { state: 'queued', queued_at: event.at, detail: null };
    case 'message.held':
      return { state: 'held', detail: event.data.reason };
    case 'message.typed':
      return { state: 'typed', typed_at: event.at, detail: null };
    case 'message.submitted':
      return { state: 'submitted', submitted_at: event.at, detail: event.data.how };
    case 'message.started':
      return { state: 'started', started_at: event.at };
    case 'message.answered':
      return { state: 'answered', answered_at: event.at };
    case 'message.unconfirmed':
      return { state: 'unconfirmed', detail: event.data.screen };
    case 'message.refused':
      return { state: 'refused', detail: event.data.reason };
    default:
      return null;
  }
}
