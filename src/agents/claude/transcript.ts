import type { HookFact, TranscriptRules } from '../contract.js';
import { asRecord, parsedLine, textOf, type HookBody } from '../hook-kit.js';
import { unwrapped } from './wrapper.js';

/** Its conversation file, one JSON object a line; seen on 2.1.332. */
export const claudeTranscript: TranscriptRules = {
  facts(text) {
    const line = parsedLine(text);
    if (line['isSidechain'] === true || line['isMeta'] === true) return [];
    if (line['type'] === 'user') return promptOf(line);
    // What is sent while it works stands in its queue, and is submitted all the same.
    if (line['type'] === 'queue-operation' && line['operation'] === 'enqueue')
      return submitted(textsOf(line['content']));
    if (line['type'] === 'assistant') return endOf(line);
    return [];
  },
};

function promptOf(line: HookBody): readonly HookFact[] {
  const { content } = message(line);
  const blocks = Array.isArray(content) ? content.map(asRecord) : [];
  if (blocks.some((block) => block['type'] === 'tool_result')) return [];
  const text = textsOf(content);
  return text.startsWith('[Request interrupted by user') ? [] : submitted(text);
}

function submitted(text: string): readonly HookFact[] {
  return text === '' ? [] : [{ fact: 'prompt_submitted', text: unwrapped(text) }];
}

function endOf(line: HookBody): readonly HookFact[] {
  const { content, stop_reason: stopReason } = message(line);
  const text = textsOf(content);
  if (line['isApiErrorMessage'] === true) return [{ fact: 'turn_failed', text }];
  return stopReason === 'end_turn' && text !== '' ? [{ fact: 'turn_ended', text }] : [];
}

function message(line: HookBody): HookBody {
  return asRecord(line['message']);
}

function textsOf(content: unknown): string {
  if (!Array.isArray(content)) return textOf(content);
  return content
    .map(asRecord)
    .flatMap((block) => (block['type'] === 'text' ? [String(block['text'])] : []))
    .join('\n');
}
