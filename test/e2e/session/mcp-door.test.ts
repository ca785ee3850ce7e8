import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { SessionRig, SILENT_LEAD, type McpCaller, type ToolResult } from '../../support/session-rig.js';

const LEAD_TOOLS = [
  'cross_review',
  'integrate_worker',
  'integration_status',
  'kill_worker',
  'list_perspectives',
  'list_workers',
  'mark_goal_done',
  'mark_goal_failed',
  'overlaps',
  'read_worker_output',
  'report_progress',
  'send_to_worker',
  'spawn_worker',
  'verify',
  'wait_for_worker',
  'worker_diff',
];

let rig: SessionRig;
let lead: McpCaller;

beforeAll(async () => {
  rig = new SessionRig();
  await rig.start(SILENT_LEAD);
  lead = await rig.lead();
}, 180_000);
afterAll(() => rig.close(), 60_000);

/** A request with headers that fetch would not let us forge. */
function raw(path: string, headers: Record<string, string>, body?: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const { port } = rig.control;
    const request = httpRequest(
      { host: '127.0.0.1', port, path, method: body === undefined ? 'GET' : 'POST', headers },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}

function said(result: ToolResult): string {
  const { message, hint } = result.answer['error'] as { message: string; hint?: string };
  return `${message} ${hint ?? ''}`;
}

describe('the MCP door', () => {
  it('[27] lists exactly the sixteen tools of the lead, sorted, with annotations and both schemas', async () => {
    const { tools } = await lead.client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(LEAD_TOOLS);
    for (const tool of tools) {
      expect(tool.description, tool.name).toMatch(/\w/);
      expect(tool.inputSchema.type, tool.name).toBe('object');
      expect(tool.outputSchema?.type, tool.name).toBe('object');
    }
    const hints = Object.fromEntries(tools.map((tool) => [tool.name, tool.annotations]));
    expect(hints['list_workers']).toMatchObject({ readOnlyHint: true, destructiveHint: false });
    expect(hints['kill_worker']).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  });

  it("gives a worker its three tools and refuses it the lead's", async () => {
    const worker = await rig.worker('w01');
    const { tools } = await worker.client.listTools();
    expect(tools.map((tool) => tool.name)).toEqual(['ask_lead', 'report_blocked', 'report_done']);
    expect(await worker.code('spawn_worker', { task: 'more of me' })).toBe('FORBIDDEN');
    expect(rig.store.workers(rig.sessionId).map((row) => row.worker_id)).toEqual(['lead']);
  });

  it('answers with structured content and the same JSON as text', async () => {
    const { answer, text } = await lead.call('list_workers');
    expect(answer).toEqual({ workers: [] });
    expect(JSON.parse(text)).toEqual(answer);
  });

  it('[66] lists exactly the seven perspectives', async () => {
    const { perspectives } = (await lead.ok('list_perspectives')) as {
      perspectives: { name: string; read_only: boolean }[];
    };
    expect(perspectives.map(({ name, read_only }) => [name, read_only])).toEqual([
      ['implementer', false],
      ['performance', true],
      ['researcher', true],
      ['reviewer', true],
      ['security', true],
      ['tester', false],
      ['verifier', true],
    ]);
  });

  it.each([
    ['spawn_worker', {}, 'INVALID_INPUT', /"task" is not valid/],
    ['spawn_worker', { task: '  ' }, 'INVALID_INPUT', /it is empty/],
    ['spawn_worker', { task: 'x', colour: 'red' }, 'INVALID_INPUT', /unknown field "colour"/],
    [
      'spawn_worker',
      { task: 'x', perspective: 'wizard' },
      'UNKNOWN_PERSPECTIVE',
      /perspectives are: implementer/,
    ],
    ['spawn_worker', { task: 'x', file_scope: ['../secret'] }, 'INVALID_INPUT', /outside the project/],
    ['spawn_worker', { task: 'x', file_scope: ['/etc'] }, 'INVALID_INPUT', /outside the project/],
    ['spawn_worker', { task: 'x', file_scope: 'src' }, 'INVALID_INPUT', /"file_scope"/],
    ['spawn_worker', { task: 'x', base: 'no-such-branch' }, 'REF_NOT_FOUND', /no-such-branch/],
    ['spawn_worker', { task: 'x', idempotency_key: '' }, 'INVALID_INPUT', /"idempotency_key"/],
    ['read_worker_output', { worker_id: 'w99' }, 'UNKNOWN_WORKER', /no worker "w99"/],
    ['read_worker_output', { worker_id: '../../etc' }, 'INVALID_INPUT', /looks like w01/],
    ['read_worker_output', { worker_id: 'lead', tail_lines: 0 }, 'INVALID_INPUT', /"tail_lines".*\(got 0\)/],
    ['read_worker_output', { worker_id: 'lead', tail_lines: 2001 }, 'INVALID_INPUT', /"tail_lines"/],
    ['send_to_worker', { worker_id: 'w99', message: 'hi' }, 'UNKNOWN_WORKER', /w99/],
    ['send_to_worker', { worker_id: 'lead', message: 'me' }, 'INVALID_INPUT', /cannot send to itself/],
    ['send_to_worker', { worker_id: 'w99', message: '' }, 'INVALID_INPUT', /"message"/],
    ['wait_for_worker', {}, 'INVALID_INPUT', /give worker_id or worker_ids/],
    ['wait_for_worker', { worker_id: 'w99' }, 'UNKNOWN_WORKER', /w99/],
    ['wait_for_worker', { worker_id: 'w01', timeout_s: 3601 }, 'INVALID_INPUT', /"timeout_s"/],
    ['wait_for_worker', { worker_ids: [], mode: 'any' }, 'INVALID_INPUT', /"worker_ids"/],
    ['wait_for_worker', { worker_id: 'w01', mode: 'some' }, 'INVALID_INPUT', /"mode"/],
    ['kill_worker', { worker_id: 'w99' }, 'UNKNOWN_WORKER', /w99/],
    ['kill_worker', { worker_id: 'lead' }, 'INVALID_INPUT', /not a worker/],
    ['cross_review', { worker_a: 'w01', worker_b: 'w02' }, 'UNKNOWN_WORKER', /w01/],
    ['cross_review', { worker_a: 'w01', worker_b: 'w01' }, 'INVALID_INPUT', /cannot review itself/],
    ['cross_review', { worker_a: 'w01' }, 'INVALID_INPUT', /"worker_b"/],
    ['verify', { verify_id: 'nope' }, 'UNKNOWN_VERIFY', /nope/],
    ['verify', { agent: 7 }, 'INVALID_INPUT', /"agent"/],
    ['report_progress', { message: ' ' }, 'INVALID_INPUT', /it is empty/],
    ['mark_goal_done', { summary: '' }, 'INVALID_INPUT', /it is empty/],
    [
      'mark_goal_done',
      { summary: 'x', discard: [{ worker: 'w01', reason: '' }] },
      'INVALID_INPUT',
      /give a reason/,
    ],
    ['mark_goal_failed', {}, 'INVALID_INPUT', /"reason"/],
    ['list_perspectives', { x: 1 }, 'INVALID_INPUT', /unknown field "x"/],
    ['list_workers', { x: 1 }, 'INVALID_INPUT', /takes: nothing/],
    ['integrate_worker', { worker_id: 'w99' }, 'UNKNOWN_WORKER', /w99/],
    ['integrate_worker', { worker_id: 'lead' }, 'WORKER_READ_ONLY', /may not change the result/],
    ['integrate_worker', { worker_id: 'w01', strategy: 'rebase' }, 'INVALID_INPUT', /"strategy"/],
    ['integration_status', { x: 1 }, 'INVALID_INPUT', /unknown field/],
    ['worker_diff', { worker_id: 'w99' }, 'UNKNOWN_WORKER', /w99/],
    ['overlaps', { x: 1 }, 'INVALID_INPUT', /unknown field/],
    ['no_such_tool', {}, 'UNKNOWN_OPERATION', /no operation "no_such_tool"/],
  ] as const)('[72] answers %s %j with %s, which the model can read', async (tool, input, code, text) => {
    const before = rig.store.workers(rig.sessionId).length;
    const result = await lead.call(tool, input);
    expect(result).toMatchObject({ isError: true, answer: { error: { code } } });
    expect(said(result)).toMatch(text);
    expect(rig.store.workers(rig.sessionId)).toHaveLength(before);
  });

  it.each([
    ['report_done', { summary: '' }, /say in a sentence/],
    ['report_blocked', { reason: '' }, /say why/],
    ['ask_lead', { question: ' ' }, /it is empty/],
  ] as const)("[72] answers a worker's %s %j with INVALID_INPUT", async (tool, input, text) => {
    const result = await (await rig.worker('w01')).call(tool, input);
    expect(result.answer).toMatchObject({ error: { code: 'INVALID_INPUT' } });
    expect(said(result)).toMatch(text);
  });

  it('[28] rejects requests without the token, with a wrong one, and with one of another session', async () => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list' });
    const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
    for (const path of ['/mcp', '/api/status', '/events', '/hooks', '/api/operations']) {
      const method = path === '/mcp' || path === '/hooks' ? { method: 'POST', body } : {};
      for (const token of [null, 'ao.lead.wrong', `ao.lead.${'A'.repeat(43)}`, 'x']) {
        const response = await rig.request(path, { ...method, headers, token });
        expect([path, response.status]).toEqual([path, 401]);
        expect(response.headers.get('www-authenticate')).toBe('Bearer');
      }
    }
  });

  it('[28] rejects a foreign Host and a foreign Origin on every path, token or not', async () => {
    const token = rig.control.client_token;
    const { port } = rig.control;
    const host = `127.0.0.1:${port}`;
    for (const path of ['/mcp', '/api/status', '/events?after=0', '/hooks']) {
      const authorization = `Bearer ${token}`;
      for (const bad of [
        'evil.example',
        `evil.example:${port}`,
        `127.0.0.1.evil.example:${port}`,
        '127.0.0.1',
        `127.0.0.1:${port + 1}`,
      ])
        expect([path, bad, await raw(path, { host: bad, authorization })]).toEqual([path, bad, 403]);
      for (const origin of [
        'http://evil.example',
        'null',
        `https://127.0.0.1:${port}`,
        `http://127.0.0.1.evil.example:${port}`,
        'http://127.0.0.1:1',
      ])
        expect([path, origin, await raw(path, { host, origin, authorization })]).toEqual([path, origin, 403]);
    }
    expect(
      await raw('/api/status', {
        host,
        origin: `http://127.0.0.1:${port}`,
        authorization: `Bearer ${token}`,
      }),
    ).toBe(200);
    expect(await raw('/health', { host: 'evil.example' })).toBe(403);
  });

  it('asks for the token before it reads a path, however odd that is', async () => {
    const host = `127.0.0.1:${rig.control.port}`;
    const authorization = `Bearer ${rig.control.client_token}`;
    for (const path of ['//', '///x', '/%', '/\\']) {
      expect([path, await raw(path, { host })]).toEqual([path, 401]);
      expect([path, await raw(path, { host, authorization })]).toEqual([path, 404]);
    }
  });

  it('takes JSON only: a form or text/plain body, as a web page can send, changes nothing', async () => {
    const body = JSON.stringify({ message: 'from a page' });
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', '']) {
      const response = await rig.request('/api/report-progress', {
        method: 'POST',
        body,
        headers: { 'content-type': type },
      });
      expect([type, response.status]).toEqual([type, 422]);
      expect(response.headers.get('content-type')).toMatch('application/problem+json');
    }
    expect(rig.types()).not.toContain('progress.reported');
  });

  it('[29] listens on 127.0.0.1 only', async () => {
    const { execFileSync } = await import('node:child_process');
    const listening = execFileSync(
      'sh',
      ['-c', `cat /proc/${rig.control.pid}/net/tcp /proc/${rig.control.pid}/net/tcp6`],
      { encoding: 'utf8' },
    );
    const hex = rig.control.port.toString(16).toUpperCase().padStart(4, '0');
    const bound = [...listening.matchAll(new RegExp(`([0-9A-F]+):${hex} [0-9A-F]+:0000 0A`, 'g'))].map(
      (match) => match[1],
    );
    expect(bound).toEqual(['0100007F']);
  });

  it('answers OAuth probes with a plain 404 and health without a token', async () => {
    const probe = await rig.request('/.well-known/oauth-protected-resource', { token: null });
    expect([probe.status, await probe.json()]).toEqual([404, { error: 'not found' }]);
    const health = await rig.request('/health', { token: null });
    expect(await health.json()).toMatchObject({ ok: true, session_id: rig.sessionId });
  });

  it('serves a client that comes back with a session id of an earlier supervisor, without a new initialize', async () => {
    const response = await rig.request('/mcp', {
      method: 'POST',
      token: rig.token({ scope: 'lead', workerId: 'lead' }),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-session-id': 'from-before-the-restart',
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: 7,
        method: 'tools/call',
        params: { name: 'list_workers', arguments: {} },
      }),
    });
    expect(response.status).toBe(200);
    expect(await response.text()).toContain('{"workers":[]}');
  });
});
