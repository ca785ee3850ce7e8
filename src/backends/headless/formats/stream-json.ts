import type { WaitingKind } from '../../../core/state/states.js';
import type { Said } from '../../contract.js';
import { kindOfFailure } from './failure-kind.js';
import { fieldsOf, listOf, numberOf, parseLine, textOf, textOfContent, type Fields } from './json-line.js';
import type { StreamReader } from './reader.js';

interface State {
  threadId: string | null;
  /** How often it began, at first for the prompt, then for what it was woken by; a result for each is still to come. */
  begun: number;
  results: number;
  /** Commands and agents of its own in the background. */
  backgroundTasks: number;
  /** Results tell the cost of all so far. */
  costUsd: number;
  /** Calls whose refusal was told, or is somebody's own answer: the result lists them once more. */
  readonly refused: Set<string>;
  /** The code of the latest API error: the result has its text alone. */
  errorCode: string;
}

/**
 * Messages of the model's API as they come, pieces included, between `system/init` and `result`; recordings are in
 * test/fixtures/streams. Lines of sub-agents name their parent; what they say is not said by the agent. A program that
 * its own background work wakes begins again, and says another `result`: the last is the one that counts.
 */
export function streamJson(): StreamReader {
  const state: State = {
    threadId: null,
    begun: 0,
    results: 0,
    backgroundTasks: 0,
    costUsd: 0,
    refused: new Set(),
    errorCode: '',
  };
  return { line: (text) => saidBy(state, parseLine(text)) };
}

function saidBy(state: State, line: Fields): readonly Said[] {
  if ((line['parent_tool_use_id'] ?? null) !== null) return [];
  switch (line['type']) {
    case 'system':
      return remark(state, line);
    case 'stream_event':
      return piece(fieldsOf(line['event']));
    case 'assistant':
      if (textOf(line['error']) !== '') return failedCall(state, line);
      return listOf(fieldsOf(line['message'])['content']).flatMap(wholeBlock);
    case 'user':
      return listOf(fieldsOf(line['message'])['content']).flatMap(returned);
    case 'result':
      return result(state, line);
    default:
      return [];
  }
}

function remark(state: State, line: Fields): readonly Said[] {
  switch (line['subtype']) {
    case 'init':
      return begin(state, line);
    case 'api_retry': {
      const status = numberOf(line['error_status']);
      const why = `${textOf(line['error'])}${status === null ? '' : ` (${status})`}`;
      const attempt = `${numberOf(line['attempt'])} of ${numberOf(line['max_retries'])}`;
      return [note(`its model did not answer: ${why}; retry ${attempt}`)];
    }
    case 'permission_denied':
      return denial(state, line);
    case 'background_tasks_changed':
      state.backgroundTasks = listOf(line['tasks']).length;
      return [];
    case 'hook_response':
      return line['outcome'] === 'error' ? [note(`its hook ${textOf(line['hook_name'])} failed`)] : [];
    default:
      return [];
  }
}

function begin(state: State, line: Fields): readonly Said[] {
  const said: Said[] = [];
  const threadId = textOf(line['session_id']);
  if (threadId !== '' && threadId !== state.threadId) {
    state.threadId = threadId;
    said.push({ said: 'thread', threadId });
  }
  if (++state.begun === 1) {
    said.push({ said: 'prompt_taken' });
    for (const server of listOf(line['mcp_servers']))
      if (server['status'] === 'failed') said.push(note(`its MCP server ${textOf(server['name'])} failed`));
  }
  return said;
}

/** Refused by an answer to its question: whoever gave it knows. Else nobody was there to be asked. */
function denial(state: State, line: Fields): readonly Said[] {
  state.refused.add(textOf(line['tool_use_id']));
  if (line['decision_reason_type'] === 'hook') return [];
  return [{ said: 'denied', tool: textOf(line['tool_name']), text: textOf(line['message']) }];
}

function piece(event: Fields): readonly Said[] {
  if (event['type'] !== 'content_block_delta') return [];
  const delta = fieldsOf(event['delta']);
  const text = textOf(delta['text']);
  const thinking = textOf(delta['thinking']);
  if (delta['type'] === 'text_delta' && text !== '') return [{ said: 'text', text, delta: true }];
  if (delta['type'] === 'thinking_delta' && thinking !== '')
    return [{ said: 'reasoning', text: thinking, delta: true }];
  return [];
}

function wholeBlock(block: Fields): readonly Said[] {
  const text = textOf(block['text']);
  const thinking = textOf(block['thinking']);
  switch (block['type']) {
    case 'text':
      return text !== '' ? [{ said: 'text', text, delta: false }] : [];
    case 'thinking':
      return thinking !== '' ? [{ said: 'reasoning', text: thinking, delta: false }] : [];
    case 'tool_use':
      return [
        {
          said: 'tool_called',
          callId: textOf(block['id']),
          tool: textOf(block['name']),
          input: block['input'] ?? null,
        },
      ];
    default:
      return [];
  }
}

function returned(block: Fields): readonly Said[] {
  if (block['type'] !== 'tool_result') return [];
  return [
    {
      said: 'tool_returned',
      callId: textOf(block['tool_use_id']),
      isError: block['is_error'] === true,
      output: textOfContent(block['content']),
    },
  ];
}

/** A failure of its API comes as if the agent had said it. */
function failedCall(state: State, line: Fields): readonly Said[] {
  const content = textOfContent(fieldsOf(line['message'])['content']);
  state.errorCode = textOf(line['error']);
  return [note(`its model failed: ${content}`)];
}

/** Failed or not is told by `is_error` alone: the subtype of an API error is `success`. */
function result(state: State, line: Fields): readonly Said[] {
  const denials = listOf(line['permission_denials']).flatMap((denied): Said[] => {
    const callId = textOf(denied['tool_use_id']);
    if (state.refused.has(callId)) return [];
    state.refused.add(callId);
    const text = textOf(fieldsOf(denied['tool_input'])['command']);
    return [{ said: 'denied', tool: textOf(denied['tool_name']), text }];
  });
  // No turn began: its standard error says why, as where it has nothing to say in this format.
  if (state.begun === 0) return [note(failed(state, line).text)];
  state.results++;
  return [
    usage(state, line),
    ...denials,
    line['is_error'] === false ? ended(state, line) : failed(state, line),
  ];
}

function ended(state: State, line: Fields): Said {
  const text = textOf(line['result']);
  const goesOn = state.backgroundTasks > 0 || state.begun > state.results;
  return { said: 'turn_ended', text, ...(goesOn ? { goesOn } : {}) };
}

function failed(state: State, line: Fields): Extract<Said, { said: 'turn_failed' }> {
  if (textOf(line['terminal_reason']).startsWith('aborted'))
    return { said: 'turn_failed', text: 'it was interrupted', kind: null };
  const errors = Array.isArray(line['errors']) ? line['errors'].filter((one) => typeof one === 'string') : [];
  const text = textOf(line['result']) || errors.join('\n') || textOf(line['subtype']);
  return { said: 'turn_failed', text, kind: NEEDS_PERSON[state.errorCode] ?? kindOfFailure(text) };
}

const NEEDS_PERSON: Readonly<Record<string, WaitingKind>> = {
  rate_limit: 'quota',
  billing_error: 'quota',
  authentication_failed: 'login',
  oauth_org_not_allowed: 'login',
};

/** What was read from or written to the cache is input too. */
function usage(state: State, line: Fields): Said {
  const counted = fieldsOf(line['usage']);
  const inputs = ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'].map((key) =>
    numberOf(counted[key]),
  );
  const total = numberOf(line['total_cost_usd']);
  const before = state.costUsd;
  state.costUsd = total ?? before;
  return {
    said: 'usage',
    inputTokens: inputs[0] === null ? null : inputs.reduce<number>((sum, one) => sum + (one ?? 0), 0),
    outputTokens: numberOf(counted['output_tokens']),
    costUsd: total === null ? null : total - before,
  };
}

function note(text: string): Said {
  return { said: 'note', text };
}
