import type { WaitingKind } from '../../../core/state/states.js';
import type { Said } from '../../contract.js';
import { fieldsOf, listOf, numberOf, parseLine, textOf, type Fields } from './json-line.js';
import type { StreamReader } from './reader.js';

/** Threads, turns and items, each item whole: there are no pieces. Recordings are in test/fixtures/streams. */
export function threadJsonl(): StreamReader {
  let answer = '';
  let failure = '';
  const line = (text: string): readonly Said[] => {
    const event = parseLine(text);
    const item = fieldsOf(event['item']);
    switch (event['type']) {
      case 'thread.started':
        return [{ said: 'thread', threadId: textOf(event['thread_id']) }];
      case 'turn.started':
        return [{ said: 'prompt_taken' }];
      case 'item.started':
        return calls(item);
      case 'item.completed':
        if (item['type'] === 'agent_message') answer = textOf(item['text']);
        return completed(item);
      case 'error':
        failure = plain(textOf(event['message']));
        return [{ said: 'note', text: failure }];
      case 'turn.failed':
        return failed(plain(textOf(fieldsOf(event['error'])['message'])) || failure);
      case 'turn.completed':
        return [usage(fieldsOf(event['usage'])), { said: 'turn_ended', text: answer }];
      default:
        return [];
    }
  };
  return { line };
}

const TOOLS: readonly unknown[] = [
  'command_execution',
  'mcp_tool_call',
  'file_change',
  'web_search',
  'collab_tool_call',
];

function calls(item: Fields): readonly Said[] {
  if (!TOOLS.includes(item['type'])) return [];
  const { id, type, command, server, tool, arguments: input, query, changes } = item;
  const name = type === 'mcp_tool_call' ? `${textOf(server)}.${textOf(tool)}` : textOf(type);
  return [
    {
      said: 'tool_called',
      callId: textOf(id),
      tool: name,
      input: input ?? (command === undefined ? { query, changes } : { command }),
    },
  ];
}

/** Some items are only told when they are over. */
function completed(item: Fields): readonly Said[] {
  switch (item['type']) {
    case 'agent_message':
      return [{ said: 'text', text: textOf(item['text']), delta: false }];
    case 'reasoning':
      return [{ said: 'reasoning', text: textOf(item['text']), delta: false }];
    case 'error':
      return [{ said: 'note', text: textOf(item['message']) }];
    case 'file_change':
    case 'web_search':
      return [...calls(item), returned(item, changesOf(item))];
    case 'command_execution':
      return [returned(item, textOf(item['aggregated_output'])), ...denied(item)];
    case 'mcp_tool_call':
    case 'collab_tool_call':
      return [returned(item, resultOf(item))];
    default:
      return [];
  }
}

function returned(item: Fields, output: string): Said {
  const code = numberOf(item['exit_code']);
  const isError = ['failed', 'declined'].includes(textOf(item['status'])) || (code !== null && code !== 0);
  return { said: 'tool_returned', callId: textOf(item['id']), isError, output };
}

/** It never asks: what its policy does not allow is refused. */
function denied(item: Fields): readonly Said[] {
  return item['status'] === 'declined'
    ? [{ said: 'denied', tool: 'command_execution', text: textOf(item['command']) }]
    : [];
}

function resultOf(item: Fields): string {
  const error = textOf(fieldsOf(item['error'])['message']);
  if (error !== '') return error;
  return listOf(fieldsOf(item['result'])['content'])
    .map((part) => textOf(part['text']))
    .join('\n');
}

function changesOf(item: Fields): string {
  return listOf(item['changes'])
    .map((change) => `${textOf(change['kind'])} ${textOf(change['path'])}`)
    .join('\n');
}

function usage(of: Fields): Said {
  return {
    said: 'usage',
    inputTokens: numberOf(of['input_tokens']),
    outputTokens: numberOf(of['output_tokens']),
    costUsd: null,
  };
}

/** It passes on the body of an error as it came. */
function plain(message: string): string {
  return textOf(fieldsOf(parseLine(message)['error'])['message']) || message;
}

function failed(text: string): readonly Said[] {
  return [{ said: 'turn_failed', text, kind: needs(text) }];
}

/** What only a person can mend. */
function needs(text: string): WaitingKind | null {
  if (/401|unauthorized|not logged in|login/i.test(text)) return 'login';
  if (/usage limit|quota|insufficient_quota/i.test(text)) return 'quota';
  return null;
}
