import type { HookFact, TranscriptRules } from '../contract.js';
import { unwrapped } from './wrapper.js';

type Line = Readonly<Record<string, unknown>>;

/** Its conversation file, one JSON object a line; seen on 2.1.332. */
export const claudeTranscript: TranscriptRules = {
  facts(text) {
    const line = parsed(text);
    if (line === null || line['isSidechain'] === true || line['isMeta'] === true) return [];
    if (line['type'] === 'user') return promptOf(line);
    // What is sent while it works stands in its queue, and is submitted all the same.
    if (line['type'] === 'queue-operation' && line['operation'] === 'enqueue')
      return submitted(textsOf(line['content']));
    if (line['type'] === 'assistant') return endOf(line);
    return [];
  },
};

function promptOf(line: Line): readonly HookFact[] {
  const { content } = message(line);
  const blocks = Array.isArray(content) ? (content as Line[]) : [];
  if (blocks.some((block) => block['type'] === 'tool_result')) return [];
  const text = textsOf(content);
  return text.startsWith('[Request interrupted by user') ? [] : submitted(text);
}

function submitted(text: string): readonly HookFact[] {
  return text === '' ? [] : [{ fact: 'prompt_submitted', text: unwrapped(text) }];
}

function endOf(line: Line): readonly HookFact[] {
  const { content, stop_reason: stopReason } = message(line);
  const text = textsOf(content);
  if (line['isApiErrorMessage'] === true) return [{ fact: 'turn_failed', text }];
  return stopReason === 'end_turn' && text !== '' ? [{ fact: 'turn_ended', text }] : [];
}

function message(line: Line): Line {
  const value = line['message'];
  return typeof value === 'object' && value !== null ? (value as Line) : {};
}

function textsOf(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return (content as Line[])
    .flatMap((block) => (block['type'] === 'text' ? [String(block['text'])] : []))
    .join('\n');
}

function parsed(text: string): Line | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Line) : null;
  } catch {
    return null; // The last line may be half written.
  }
}
