import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Conversation, ToolCall, ToolResult, Turn } from './conversation.js';
import { resolveTool } from './reply.js';
import type { Reply, WireFormat } from './server.js';

/** Anthropic Messages: https://docs.anthropic.com/en/api/messages and its streaming events. */
export const anthropic: WireFormat = {
  name: 'anthropic',
  handles: (method, path) =>
    (method === 'POST' && path.startsWith('/v1/messages')) || path === '/' || path.startsWith('/v1/models'),
  aside(path, body) {
    if (path === '/v1/messages/count_tokens') return { input_tokens: tokens(JSON.stringify(body)) };
    if (path.startsWith('/v1/models')) return { data: [], has_more: false };
    if (path === '/') return { ok: true };
    return null;
  },
  read,
  answer,
  failure: (status, message) => ({ type: 'error', error: { type: errorType(status), message } }),
};

type Block = Record<string, unknown>;

function read(body: unknown): Conversation {
  const { model, system, tools, messages } = body as {
    model: string;
    system?: string | Block[];
    tools?: { name: string }[];
    messages: { role: 'user' | 'assistant' | 'system'; content: string | Block[] }[];
  };
  return {
    model,
    system: textsOf(system ?? '').join('\n'),
    tools: (tools ?? []).map(({ name }) => name),
    turns: messages.flatMap(({ role, content }): Turn[] => {
      if (role === 'system') return [];
      const blocks = typeof content === 'string' ? [] : content;
      return role === 'user'
        ? [{ role, texts: textsOf(content), results: blocks.flatMap(resultOf) }]
        : [{ role, texts: textsOf(content), calls: blocks.flatMap(callOf) }];
    }),
  };
}

function textsOf(content: string | Block[]): string[] {
  if (typeof content === 'string') return content === '' ? [] : [content];
  return content.flatMap((block) => (block['type'] === 'text' ? [String(block['text'])] : []));
}

function resultOf(block: Block): ToolResult[] {
  if (block['type'] !== 'tool_result') return [];
  const content = block['content'] as string | Block[] | undefined;
  return [
    {
      callId: String(block['tool_use_id']),
      text: textsOf(content ?? '').join('\n'),
      isError: block['is_error'] === true,
    },
  ];
}

function callOf(block: Block): ToolCall[] {
  if (block['type'] !== 'tool_use') return [];
  return [
    {
      id: String(block['id']),
      name: String(block['name']),
      input: block['input'] as Record<string, unknown>,
    },
  ];
}

async function answer(response: ServerResponse, reply: Reply): Promise<void> {
  const { step, conversation } = reply;
  const content: Block[] = [];
  if (step.thinking !== undefined)
    content.push({ type: 'thinking', thinking: step.thinking, signature: 'bW9jaw==' });
  if (step.text !== undefined) content.push({ type: 'text', text: step.text });
  for (const { tool, input } of step.calls ?? [])
    content.push({
      type: 'tool_use',
      id: `toolu_${randomUUID().replaceAll('-', '')}`,
      name: resolveTool(tool, conversation.tools),
      input,
    });
  const message = {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    type: 'message',
    role: 'assistant',
    model: conversation.model,
    stop_sequence: null,
    usage: { input_tokens: 10, output_tokens: tokens(JSON.stringify(content)) },
  };
  const stopReason = (step.calls ?? []).length > 0 ? 'tool_use' : 'end_turn';
  if (!reply.stream) {
    response.writeHead(200, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ ...message, content, stop_reason: stopReason }));
    return;
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  send('message_start', { message: { ...message, content: [], stop_reason: null } });
  content.forEach((block, index) => {
    send('content_block_start', { index, content_block: emptied(block) });
    for (const delta of deltasOf(block)) send('content_block_delta', { index, delta });
    if (!reply.drop) send('content_block_stop', { index });
  });
  if (reply.drop) return void response.destroy();
  send('message_delta', { delta: { stop_reason: stopReason, stop_sequence: null }, usage: message.usage });
  send('message_stop', {});
  response.end();
}

function emptied(block: Block): Block {
  if (block['type'] === 'text') return { type: 'text', text: '' };
  if (block['type'] === 'thinking') return { type: 'thinking', thinking: '', signature: '' };
  return { ...block, input: {} };
}

function deltasOf(block: Block): Block[] {
  if (block['type'] === 'thinking')
    return [
      { type: 'thinking_delta', thinking: block['thinking'] },
      { type: 'signature_delta', signature: block['signature'] },
    ];
  if (block['type'] === 'tool_use')
    return [{ type: 'input_json_delta', partial_json: JSON.stringify(block['input']) }];
  const text = String(block['text']);
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)]
    .filter((part) => part !== '')
    .map((part) => ({ type: 'text_delta', text: part }));
}

function tokens(text: string): number {
  return Math.ceil(text.length / 4);
}

function errorType(status: number): string {
  const types: Record<number, string> = {
    400: 'invalid_request_error',
    401: 'authentication_error',
    429: 'rate_limit_error',
    529: 'overloaded_error',
  };
  return types[status] ?? 'api_error';
}
