import type { TranscriptRules } from '../contract.js';
import { asRecord, commonFacts, namedHooks, parsedLine, textOf } from '../hook-kit.js';

/** Bodies of its command hooks, on standard input. Seen on 0.171.0; a turn that failed fires none. */
export const codexHooks = namedHooks({
  tellsFailures: false,
  facts: (body) => commonFacts(body) ?? [],
});

/** Lines of its rollout file. */
export const codexTranscript: TranscriptRules = {
  facts(line) {
    const { type, payload } = parsedLine(line);
    const body = asRecord(payload);
    if (type === 'event_msg' && body['type'] === 'task_complete')
      return [{ fact: 'turn_ended', text: textOf(body['last_agent_message']) }];
    if (type !== 'response_item' || body['type'] !== 'message' || body['role'] !== 'user') return [];
    const parts: unknown[] = Array.isArray(body['content']) ? body['content'] : [];
    const text = parts.map((part) => textOf(asRecord(part)['text'])).join('\n');
    // What it puts before the first prompt by itself.
    return /^<(environment_context|user_instructions|skills_instructions)>/.test(text)
      ? []
      : [{ fact: 'prompt_submitted', text }];
  },
};
