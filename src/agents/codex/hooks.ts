import type { HookFact, TranscriptRules } from '../contract.js';
import { asRecord, commonFacts, namedHooks, parsedLine, textOf, type HookBody } from '../hook-kit.js';
import { failureKind } from './failures.js';

/**
 * Bodies of its command hooks, on standard input. Seen on 0.171.0: its threads for titles fire none, its helpers the
 * ones with an `agent_id`; a turn that failed or was interrupted fires none.
 */
export const codexHooks = namedHooks({
  tellsFailures: false,
  facts: (body) => commonFacts(body) ?? [],
});

/** Lines of its rollout file. Messages that it puts in by itself have the role of the user, but are no such item. */
export const codexTranscript: TranscriptRules = {
  facts(line) {
    const { type, payload } = parsedLine(line);
    const body = asRecord(payload);
    if (type !== 'event_msg') return [];
    if (body['type'] === 'task_complete') return [endOf(body)];
    if (body['type'] === 'turn_aborted') return [{ fact: 'turn_ended', text: '' }];
    const item = asRecord(body['item']);
    if (body['type'] !== 'item_completed' || item['type'] !== 'UserMessage') return [];
    const parts: unknown[] = Array.isArray(item['content']) ? item['content'] : [];
    return [
      { fact: 'prompt_submitted', text: parts.map((part) => textOf(asRecord(part)['text'])).join('\n') },
    ];
  },
};

function endOf(body: HookBody): HookFact {
  if (body['error'] === undefined || body['error'] === null)
    return { fact: 'turn_ended', text: textOf(body['last_agent_message']) };
  const error = asRecord(body['error']);
  const kind = failureKind(JSON.stringify(error));
  return {
    fact: 'turn_failed',
    text: textOf(error['message']) || 'its turn failed',
    ...(kind === null ? {} : { kind }),
  };
}
