import type { HookFact } from '../../agents/contract.js';
import type { MessageRow } from '../../core/state/rows.js';
import type { EngineDeps } from './deps.js';
import { typeable } from './hand-over.js';
import { missedFacts } from './missed-facts.js';
import { leftTyped, leftUnconfirmed, type NextDelivery } from './next-delivery.js';
import type { Proof } from './receipts.js';
import { holdsText, isSameText } from './same-text.js';

/** What a transcript says of the time in which no supervisor listened. */
export interface Missed {
  /** Typed by an earlier supervisor, and the agent has it. */
  readonly taken: readonly { readonly next: NextDelivery; readonly proof: Proof }[];
  /** Typed by an earlier supervisor, and nothing proves yet that the agent took it. */
  readonly left: NextDelivery | null;
  /** Given up as unconfirmed; the agent's own word may still bring the proof. */
  readonly unconfirmed: NextDelivery | null;
  /** The last thing that began or ended a turn; null: nothing is known, the screen has to tell. */
  readonly turn: Extract<HookFact, { fact: 'prompt_submitted' | 'turn_ended' | 'turn_failed' }> | null;
}

const IN_TRANSCRIPT: Proof = {
  evidence: 'transcript',
  how: 'found after a restart: its transcript has the prompt',
};
/** Flags are cleared before an instruction is typed. */
const FLAGGED: Proof = { evidence: 'flag', how: 'found after a restart: the agent flagged what came of it' };

/** Reads what the hooks of a worker's agent could not tell, from where the rows say that they last told something. */
export async function whatWasMissed(deps: EngineDeps, workerId: string, isFlagged: boolean): Promise<Missed> {
  const messages = deps.store.messages(deps.sessionId, workerId);
  const asTyped = (next: NextDelivery | null) => (next === null ? null : typeable(deps, workerId, next));
  const left = await asTyped(leftTyped(messages));
  const unconfirmed = await asTyped(leftUnconfirmed(messages));
  const waiting = [left, unconfirmed].filter((next) => next !== null);
  const known = lastTaken(messages);
  const facts = await factsSince(deps, workerId, (prompt) => {
    // The same text may have been sent again: then everything has to be counted.
    const again = waiting.some((next) => isSameText(next.text, prompt));
    return known !== null && !again && isPromptOf(known, prompt);
  });
  const proofOf = (next: NextDelivery): Proof | null => {
    if (promptsLike(facts, next.text) > takenBefore(messages, next)) return IN_TRANSCRIPT;
    return isFlagged && next.rearms ? FLAGGED : null;
  };
  const open = (next: NextDelivery | null) => (next === null || proofOf(next) !== null ? null : next);
  const taken = waiting.flatMap((next) => {
    const proof = proofOf(next);
    return proof === null ? [] : [{ next, proof }];
  });
  return {
    taken,
    left: open(left),
    unconfirmed: open(unconfirmed),
    turn: lastOfTurn(facts, (prompt) =>
      taken.length > 0
        ? taken.some(({ next }) => isSameText(next.text, prompt))
        : known !== null && isPromptOf(known, prompt),
    ),
  };
}

/** A turn that the rows know of has not ended: what it was asked by is not answered, or the agent was last seen at work. */
export function wasInTurn(deps: EngineDeps, workerId: string): boolean {
  const worker = deps.store.worker(deps.sessionId, workerId);
  const isOpen = ({ state }: MessageRow) => state === 'submitted' || state === 'started';
  return worker?.state === 'working' || deps.store.messages(deps.sessionId, workerId).some(isOpen);
}

/** How often the agent took this very text before. */
export function takenBefore(messages: readonly MessageRow[], next: NextDelivery): number {
  return messages.filter(
    (message) =>
      wasPrompt(message) &&
      !next.messageIds.includes(message.message_id) &&
      isSameText(message.text, next.text),
  ).length;
}

async function factsSince(
  { store, sessionId, launch, logger }: EngineDeps,
  workerId: string,
  isKnown: (prompt: string) => boolean,
): Promise<readonly HookFact[]> {
  const worker = store.worker(sessionId, workerId);
  const path = worker?.transcript_path ?? null;
  const rules = worker === null ? null : (launch(worker)?.transcript ?? null);
  if (path === null || rules === null) return [];
  try {
    return await missedFacts(rules, path, isKnown);
  } catch (error) {
    logger.warn({ worker: workerId, path, err: error }, 'the transcript could not be read');
    return [];
  }
}

/** Notices that were told in a tool's answer are in no prompt. */
function wasPrompt(message: MessageRow): boolean {
  return message.submitted_at !== null && (message.kind === 'nudge' || message.started_at !== null);
}

function lastTaken(messages: readonly MessageRow[]): MessageRow | null {
  const at = (message: MessageRow) => message.submitted_at ?? '';
  return messages
    .filter(wasPrompt)
    .reduce<MessageRow | null>((last, next) => (last === null || at(next) >= at(last) ? next : last), null);
}

/** So long a text in another one is no chance. */
const SURE_LENGTH = 24;

/** Notices go together in one prompt, a text may be taken with others, and one that was handed over is a file's name. */
function isPromptOf(message: MessageRow, prompt: string): boolean {
  if (isSameText(message.text, prompt) || prompt.includes(message.message_id)) return true;
  const isSure = message.kind === 'notice' || message.text.trim().length >= SURE_LENGTH;
  return isSure && holdsText(prompt, message.text);
}

function promptsLike(facts: readonly HookFact[], text: string): number {
  return facts.filter((one) => one.fact === 'prompt_submitted' && isSameText(one.text, text)).length;
}

/** Only what stands after the prompt that is known to be the last one: anything older ended another turn. */
function lastOfTurn(facts: readonly HookFact[], isLast: (prompt: string) => boolean): Missed['turn'] {
  const from = facts.findLastIndex((one) => one.fact === 'prompt_submitted' && isLast(one.text));
  if (from === -1) return null;
  const ofTurns = facts
    .slice(from)
    .filter(
      (one): one is NonNullable<Missed['turn']> =>
        one.fact === 'prompt_submitted' ||
        one.fact === 'turn_failed' ||
        (one.fact === 'turn_ended' && one.goesOn !== true),
    );
  return ofTurns.at(-1) ?? null;
}
