import { randomUUID } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { Conversation, ToolCall, ToolResult, Turn } from './conversation.js';
import { resolveTool, type StepCall } from './reply.js';
import type { Reply, WireFormat } from './server.js';

/** OpenAI Responses: https://platform.openai.com/docs/api-reference/responses and its streaming events. */
export const responses: WireFormat = {
  name: 'responses',
  handles: (method, path) => method === 'POST' && path.endsWith('/responses'),
  // A title for the list of conversations is asked for beside the turn, without tools.
  aside: () => null,
  read,
  answer,
  failure: (status, message) => ({ error: { type: errorType(status), code: errorType(status), message } }),
};

type Item = Record<string, unknown>;

function read(body: unknown): Conversation {
  const { model, instructions, tools, input } = body as {
    model: string;
    instructions?: string;
    tools?: Item[];
    input: Item[] | string;
  };
  const items = typeof input === 'string' ? [{ type: 'message', role: 'user', content: input }] : input;
  return {
    model,
    system: instructions ?? '',
    tools: (tools ?? []).flatMap(namesOf),
    turns: items.reduce<Turn[]>(addItem, []),
    aside: (tools ?? []).length === 0,
  };
}

/** Tools of one server come together under its name. */
function namesOf(tool: Item): string[] {
  if (tool['type'] === 'namespace')
    return (tool['tools'] as Item[]).map((inner) => `${String(tool['name'])}/${String(inner['name'])}`);
  return [String(tool['name'] ?? tool['type'])];
}

/** Items that belong together make one turn. */
function addItem(turns: Turn[], item: Item): Turn[] {
  const last = turns.at(-1);
  const turn = turnOf(item);
  if (turn === null) return turns;
  if (last === undefined || last.role !== turn.role) return [...turns, turn];
  const merged =
    last.role === 'user' && turn.role === 'user'
      ? { ...last, texts: [...last.texts, ...turn.texts], results: [...last.results, ...turn.results] }
      : last.role === 'assistant' && turn.role === 'assistant'
        ? { ...last, texts: [...last.texts, ...turn.texts], calls: [...last.calls, ...turn.calls] }
        : turn;
  return [...turns.slice(0, -1), merged];
}

function turnOf(item: Item): Turn | null {
  switch (item['type'] ?? 'message') {
    case 'message':
      if (item['role'] === 'assistant') return { role: 'assistant', texts: textsOf(item), calls: [] };
      return item['role'] === 'user' ? { role: 'user', texts: textsOf(item), results: [] } : null;
    case 'function_call':
      return { role: 'assistant', texts: [], calls: [callOf(item)] };
    case 'function_call_output':
      return { role: 'user', texts: [], results: [resultOf(item)] };
    default:
      return null;
  }
}

function textsOf({ content }: Item): string[] {
  if (typeof content === 'string') return [content];
  return ((content ?? []) as Item[]).flatMap((part) =>
    typeof part['text'] === 'string' ? [part['text']] : [],
  );
}

function callOf(item: Item): ToolCall {
  return {
    id: String(item['call_id']),
    name: String(item['name']),
    input: JSON.parse(typeof item['arguments'] === 'string' ? item['arguments'] : '{}') as Record<
      string,
      unknown
    >,
  };
}

/** What a tool gave, without what the agent says around it. */
function resultOf(item: Item): ToolResult {
  const raw = item['output'];
  const said = typeof raw === 'string' ? raw : textsOf({ content: raw }).join('\n');
  const text = /^Wall time: [^]*?\nOutput:\n([^]*)$/.exec(said)?.[1] ?? said;
  const parsed = /"isError": ?true/.test(said) || /tool call error|exited with code [1-9]/.test(said);
  return { callId: String(item['call_id']), text: innerText(text), isError: parsed };
}

/** Results of MCP tools may come as JSON of their content. */
function innerText(text: string): string {
  try {
    const value = JSON.parse(text) as { content?: Item[] } | Item[];
    const content = Array.isArray(value) ? value : value.content;
    return content === undefined ? text : textsOf({ content }).join('\n');
  } catch {
    return text;
  }
}

async function answer(response: ServerResponse, reply: Reply): Promise<void> {
  const { step, conversation } = reply;
  const items: Item[] = [];
  if (step.thinking !== undefined)
    items.push({
      type: 'reasoning',
      id: id('rs'),
      summary: [{ type: 'summary_text', text: step.thinking }],
    });
  if (step.text !== undefined)
    items.push({
      type: 'message',
      id: id('msg'),
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: step.text, annotations: [] }],
    });
  for (const call of step.calls ?? []) items.push(itemOf(call, conversation.tools));
  response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-cache' });
  const send = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  const shell = { id: id('resp'), object: 'response', model: conversation.model, status: 'in_progress' };
  send('response.created', { response: { ...shell, output: [] } });
  items.forEach((item, output_index) => {
    send('response.output_item.added', { output_index, item: { ...item, status: 'in_progress' } });
    if (item['type'] === 'message')
      for (const delta of halves(step.text ?? ''))
        send('response.output_text.delta', { item_id: item['id'], output_index, content_index: 0, delta });
    if (!reply.drop) send('response.output_item.done', { output_index, item });
  });
  if (reply.drop) return void response.destroy();
  const usage = {
    input_tokens: 10,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 5,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 15,
  };
  send('response.completed', { response: { ...shell, status: 'completed', output: items, usage } });
  response.end();
}

/** Programs are written in one agent's words; another's shell has another name and other fields. */
function itemOf({ tool, input }: StepCall, offered: readonly string[]): Item {
  const shell = ['exec_command', 'shell_command', 'shell'].find((name) => offered.includes(name));
  const isShell = tool === 'Bash' && shell !== undefined;
  const name = isShell ? shell : resolveTool(tool, offered);
  const [namespace, inner] = name.includes('/') ? name.split('/') : [undefined, name];
  const fields = isShell
    ? shell === 'exec_command'
      ? { cmd: input['command'], yield_time_ms: 30_000, ...escalation(input) }
      : { command: shell === 'shell' ? ['bash', '-lc', input['command']] : input['command'] }
    : input;
  return {
    type: 'function_call',
    id: id('fc'),
    call_id: id('call'),
    name: inner,
    ...(namespace === undefined ? {} : { namespace }),
    arguments: JSON.stringify(fields),
    status: 'completed',
  };
}

/** What its sandbox does not allow it asks for. */
function escalation(input: Record<string, unknown>): object {
  return input['escalate'] === true
    ? { sandbox_permissions: 'require_escalated', justification: 'to commit' }
    : {};
}

function halves(text: string): string[] {
  const half = Math.ceil(text.length / 2);
  return [text.slice(0, half), text.slice(half)].filter((part) => part !== '');
}

function id(kind: string): string {
  return `${kind}_${randomUUID().replaceAll('-', '')}`;
}

function errorType(status: number): string {
  const types: Record<number, string> = {
    400: 'invalid_request_error',
    401: 'invalid_api_key',
    429: 'rate_limit_exceeded',
  };
  return types[status] ?? 'server_error';
}
