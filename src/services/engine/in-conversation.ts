import {
  MEANWHILE,
  OWN_LOST,
  WITH_OTHERS,
  withConversation,
  withSaidBefore,
  type Spoken,
} from '../context/conversation-text.js';
import type { MessageRow } from '../../core/state/rows.js';
import type { EngineDeps } from './deps.js';
import { gapOf, saidInGap } from './gap.js';
import { isContext } from './instruct.js';
import type { NextDelivery } from './next-delivery.js';

/**
 * An instruction as its agent gets it: with what was put into the conversation before it, and with what was said that this
 * agent does not know: its own conversation was lost, or others were asked instead. It follows from the rows alone, so that
 * the same message is the same text in every attempt.
 */
export function inConversation(deps: EngineDeps, workerId: string, next: NextDelivery): NextDelivery {
  const withContext = { ...next, text: withSaidBefore(saidBefore(deps, workerId, next), next.text) };
  return withGap(deps, workerId, withContext);
}

/** Since the last instruction that began a turn: what went with it is known to the agent. */
function saidBefore(deps: EngineDeps, workerId: string, next: NextDelivery): Spoken[] {
  return earlier(deps, workerId, next).unknown.flatMap(({ kind, text }) =>
    isContext(kind) ? [{ who: kind, text }] : [],
  );
}

/** What came before an instruction: what went with one that began a turn, and what came after that. */
function earlier(
  { store, sessionId }: EngineDeps,
  workerId: string,
  { messageIds: [first], rearms }: NextDelivery,
): { readonly known: readonly MessageRow[]; readonly unknown: readonly MessageRow[] } {
  const messages = store.messages(sessionId, workerId);
  const at = messages.findIndex(({ message_id: id }) => id === first);
  const before = messages.slice(0, Math.max(0, at));
  const from = before.findLastIndex((message) => isInstruction(message) && message.started_at !== null) + 1;
  return { known: before.slice(0, from), unknown: rearms ? before.slice(from) : [] };
}

const isInstruction = ({ kind }: MessageRow) => kind === 'task' || kind === 'follow_up';

function withGap(deps: EngineDeps, workerId: string, next: NextDelivery): NextDelivery {
  const worker = deps.store.worker(deps.sessionId, workerId);
  if (worker === null || deps.agents?.isToldAll(worker) === true) return next;
  const gap = gapOf(deps, workerId);
  if (gap === null) return next;
  const known = new Set(earlier(deps, workerId, next).known.map(({ message_id: id }) => id));
  const spoken = saidInGap(deps, workerId, gap, { next, known });
  const lead = gap.isLost ? OWN_LOST : gap.after === 0 ? WITH_OTHERS : MEANWHILE;
  return { ...next, text: withConversation(lead, spoken, next.text) };
}
