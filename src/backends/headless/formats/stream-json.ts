import type { WaitingKind } from '../../../core/state/states.js';
import type { Said } from '../../contract.js';
import { fieldsOf, listOf, numberOf, parseLine, textOf, type Fields } from './json-line.js';
import type { StreamReader } from './reader.js';

/**
 * Messages of the model's API as they come, pieces included, between `system/init` and `result`; recordings are in
 * test/fixtures/streams. Lines of sub-agents name their parent; what they say is not said by the agent.
 */
export function streamJson(): StreamReader {
  return { line: (text) => said(parseLine(text)) };
}

function said(line: Fields): readonly Said[] {
  if ((line['parent_tool_use_id'] ?? null) !== null) return [];
  switch (line['type']) {
    case 'system':
      return ofSystem(line);
    case 'stream_event':
      return ofPiece(fieldsOf(fieldsOf(line['event'])['delta']));
    case 'assistant':
      return listOf(fieldsOf(line['message'])['content']).flatMap(ofBlock);
    case 'user':
      return listOf(fieldsOf(line['message'])['content']).flatMap(ofResult);
    case 'result':
      return ofEnd(line);
    default:
      return [];
  }
}

function ofSystem(line: Fields): readonly Said[] {
  if (line['subtype'] === 'init')
    return [{ said: 'thread', threadId: textOf(line['session_id']) }, { said: 'prompt_taken' }];
  if (line['subtype'] !== 'api_retry') return [];
  const { error, error_status: status, attempt } = line;
  return [{ said: 'note', text: `retry ${String(attempt)} after ${textOf(error)} ${String(status)}` }];
}

function ofPiece(delta: Fields): readonly Said[] {
  if (delta['type'] === 'text_delta') return [{ said: 'text', text: textOf(delta['text']), delta: true }];
  if (delta['type'] === 'thinking_delta')
    return [{ said: 'reasoning', text: textOf(delta['thinking']), delta: true }];
  return [];
}

function ofBlock(block: Fields): readonly Said[] {
  switch (block['type']) {
    case 'text':
      return [{ said: 'text', text: textOf(block['text']), delta: false }];
    case 'thinking':
      return [{ said: 'reasoning', text: textOf(block['thinking']), delta: false }];
    case 'tool_use':
      return [
        {
          said: 'tool_called',
          callId: textOf(block['id']),
          tool: textOf(block['name']),
          input: block['input'] ?? {},
        },
      ];
    default:
      return [];
  }
}

function ofResult(block: Fields): readonly Said[] {
  if (block['type'] !== 'tool_result') return [];
  const { content } = block;
  const output =
    typeof content === 'string'
      ? content
      : listOf(content)
          .map((part) => textOf(part['text']))
          .join('\n');
  const callId = textOf(block['tool_use_id']);
  return [{ said: 'tool_returned', callId, isError: block['is_error'] === true, output }];
}

/** `subtype` says success of failures, too. */
function ofEnd(line: Fields): readonly Said[] {
  const usage = fieldsOf(line['usage']);
  const inputTokens = numberOf(usage['input_tokens']);
  const cached = numberOf(usage['cache_read_input_tokens']) ?? 0;
  const text = textOf(line['result']);
  return [
    ...listOf(line['permission_denials']).map((denial): Said => ({
      said: 'denied',
      tool: textOf(denial['tool_name']),
      text: JSON.stringify(denial['tool_input'] ?? {}),
    })),
    {
      said: 'usage',
      inputTokens: inputTokens === null ? null : inputTokens + cached,
      outputTokens: numberOf(usage['output_tokens']),
      costUsd: numberOf(line['total_cost_usd']),
    },
    line['is_error'] === true
      ? { said: 'turn_failed', text: text === '' ? textOf(line['subtype']) : text, kind: needs(text) }
      : { said: 'turn_ended', text },
  ];
}

/** What only a person can mend. */
function needs(text: string): WaitingKind | null {
  if (/not logged in|please run \/login|invalid api key|authentication/i.test(text)) return 'login';
  if (/usage limit|rate limit|credit balance|quota/i.test(text)) return 'quota';
  return null;
}
