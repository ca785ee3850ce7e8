import { randomUUID } from 'node:crypto';

/** One agent's output in a wire format, line by line. */
export interface StreamWriter {
  begins(threadId: string): void;
  said(text: string): void;
  thought(about: string): void;
  called(callId: string, tool: string, input: unknown): void;
  returned(callId: string, output: string, isError: boolean): void;
  denied(tool: string, text: string): void;
  ended(text: string): void;
  failed(message: string): void;
}

export const WRITERS = { 'stream-json': streamJson, 'thread-jsonl': threadJsonl } as const;
export type WireFormat = keyof typeof WRITERS;

/**
 * Whole, before anything else happens: a process that dies in the next step has said it. Files and pipes are written to
 * at once and to the end by this stream; the system's own call writes as much as a pipe takes.
 */
function line(value: object): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Messages of the model's API, pieces included. */
function streamJson(): StreamWriter {
  let session_id = '';
  const denials: object[] = [];
  const message = (role: 'assistant' | 'user', content: object) =>
    line({ type: role, message: { role, content: [content] }, parent_tool_use_id: null, session_id });
  const result = (text: string, isError: boolean) =>
    line({
      type: 'result',
      subtype: 'success',
      is_error: isError,
      result: text,
      session_id,
      num_turns: 1,
      total_cost_usd: 0,
      usage: { input_tokens: 10, output_tokens: 5 },
      permission_denials: denials,
    });
  const piece = (delta: object) =>
    line({
      type: 'stream_event',
      event: { type: 'content_block_delta', index: 0, delta },
      session_id,
      parent_tool_use_id: null,
    });
  return {
    begins: (threadId) => {
      session_id = threadId;
      line({ type: 'system', subtype: 'init', cwd: process.cwd(), session_id, tools: [], model: 'scripted' });
    },
    said: (text) => {
      const half = Math.ceil(text.length / 2);
      piece({ type: 'text_delta', text: text.slice(0, half) });
      piece({ type: 'text_delta', text: text.slice(half) });
      message('assistant', { type: 'text', text });
    },
    thought: (thinking) => {
      piece({ type: 'thinking_delta', thinking });
      message('assistant', { type: 'thinking', thinking, signature: '' });
    },
    called: (id, name, input) => message('assistant', { type: 'tool_use', id, name, input }),
    returned: (id, output, isError) =>
      message('user', {
        type: 'tool_result',
        tool_use_id: id,
        content: [{ type: 'text', text: output }],
        is_error: isError,
      }),
    denied: (tool, text) =>
      denials.push({ tool_name: tool, tool_use_id: randomUUID(), tool_input: { text } }),
    ended: (text) => result(text, false),
    failed: (text) => result(text, true),
  };
}

/** Threads, turns and items, each whole. */
function threadJsonl(): StreamWriter {
  const calls = new Map<string, object>();
  const item = (type: 'item.started' | 'item.completed', fields: object) => line({ type, item: fields });
  return {
    begins: (thread_id) => {
      line({ type: 'thread.started', thread_id });
      line({ type: 'turn.started' });
    },
    said: (text) => item('item.completed', { id: randomUUID(), type: 'agent_message', text }),
    thought: (text) => item('item.completed', { id: randomUUID(), type: 'reasoning', text }),
    called: (id, tool, input) => {
      const call = { id, type: 'mcp_tool_call', server: 'agentorchestr', tool, arguments: input };
      calls.set(id, call);
      item('item.started', { ...call, result: null, error: null, status: 'in_progress' });
    },
    returned: (id, text, isError) => {
      const result = { content: [{ type: 'text', text }] };
      const status = isError ? 'failed' : 'completed';
      item('item.completed', { ...calls.get(id), result, error: null, status });
    },
    denied: (_tool, command) =>
      item('item.completed', {
        ...{ id: randomUUID(), type: 'command_execution', command, aggregated_output: '' },
        ...{ exit_code: null, status: 'declined' },
      }),
    ended: () => {
      const usage = {
        input_tokens: 10,
        cached_input_tokens: 0,
        output_tokens: 5,
        reasoning_output_tokens: 0,
      };
      line({ type: 'turn.completed', usage });
    },
    failed: (message) => {
      line({ type: 'error', message });
      line({ type: 'turn.failed', error: { message } });
    },
  };
}
