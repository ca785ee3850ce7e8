import type { Said } from '../../contract.js';
import { kindOfFailure } from './failure-kind.js';
import { fieldsOf, listOf, numberOf, parseLine, textOf, textOfContent, type Fields } from './json-line.js';
import type { StreamReader } from './reader.js';

/** Threads, turns and items, each item whole: there are no pieces. Recordings are in test/fixtures/streams. */
export function threadJsonl(): StreamReader {
  let answer = '';
  let failure = '';
  /** Some tools are only told when they are over. */
  const begun = new Set<string>();
  const line = (text: string): readonly Said[] => {
    const event = parseLine(text);
    const item = fieldsOf(event['item']);
    switch (event['type']) {
      case 'thread.started':
        return [{ said: 'thread', threadId: textOf(event['thread_id']) }];
      case 'turn.started':
        return [{ said: 'prompt_taken' }];
      case 'item.started':
        return called(begun, item);
      case 'item.completed':
        if (item['type'] === 'agent_message') answer = textOf(item['text']);
        return isTool(item) ? [...called(begun, item), ...over(item)] : completed(item);
      case 'error':
        // Not the end: it may try again.
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

function isTool(item: Fields): boolean {
  return TOOLS.includes(item['type']);
}

function called(begun: Set<string>, item: Fields): readonly Said[] {
  if (!isTool(item) || begun.has(textOf(item['id']))) return [];
  begun.add(textOf(item['id']));
  const { id, command, arguments: input, query, changes } = item;
  const name = nameOf(item);
  return [
    {
      said: 'tool_called',
      callId: textOf(id),
      tool: name,
      input: input ?? (command === undefined ? { query, changes } : { command }),
    },
  ];
}

function nameOf({ type, server, tool }: Fields): string {
  return type === 'mcp_tool_call' ? `${textOf(server)}.${textOf(tool)}` : textOf(type);
}

function completed(item: Fields): readonly Said[] {
  switch (item['type']) {
    case 'agent_message':
      return [{ said: 'text', text: textOf(item['text']), delta: false }];
    case 'reasoning':
      return [{ said: 'reasoning', text: textOf(item['text']), delta: false }];
    case 'error':
      return [{ said: 'note', text: textOf(item['message']) }];
    case 'todo_list':
      return [{ said: 'note', text: `its plan: ${planOf(item)}` }];
    default:
      return [];
  }
}

function over(item: Fields): readonly Said[] {
  const output = outputOf(item);
  const said = returned(item, output);
  return said.isError && isRefused(item, output)
    ? [{ said: 'denied', tool: nameOf(item), text: output.trim() || textOf(item['command']) }, said]
    : [said];
}

function returned(item: Fields, output: string): Extract<Said, { said: 'tool_returned' }> {
  const code = numberOf(item['exit_code']);
  const isError = ['failed', 'declined'].includes(textOf(item['status'])) || (code !== null && code !== 0);
  return { said: 'tool_returned', callId: textOf(item['id']), isError, output };
}

const UNAPPROVED = /approval policy is never/i;
/** What a command says that ran into a wall of the sandbox. One that did so within milliseconds may not be told of. */
const WALL = /Read-only file system|Operation not permitted/;

/** It never asks: what its policy or its sandbox does not allow is refused. */
function isRefused(item: Fields, output: string): boolean {
  if (item['status'] === 'declined' || UNAPPROVED.test(output)) return true;
  return item['type'] === 'command_execution' && WALL.test(output);
}

function outputOf(item: Fields): string {
  switch (item['type']) {
    case 'command_execution':
      return textOf(item['aggregated_output']);
    case 'mcp_tool_call':
    case 'collab_tool_call':
      return textOf(fieldsOf(item['error'])['message']) || textOfContent(fieldsOf(item['result'])['content']);
    default:
      return listOf(item['changes'])
        .map((change) => `${textOf(change['kind'])} ${textOf(change['path'])}`)
        .join('\n');
  }
}

function planOf(item: Fields): string {
  return listOf(item['items'])
    .map((step) => `[${step['completed'] === true ? 'x' : ' '}] ${textOf(step['text'])}`)
    .join(' · ');
}

/** A thread that is gone on with counts from its own beginning, not from that of the turn. */
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
  return [{ said: 'turn_failed', text, kind: kindOfFailure(text) }];
}
