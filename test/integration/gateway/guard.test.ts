import { mkdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';
import { SocketReader } from '../../support/socket-reader.js';

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start('name: none\nworkers: []\n', ['--auth-token', 'second-token']);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const OPEN = ['/health', '/healthz', '/readyz', '/openapi.json', '/api/docs/'];

const own = () => `127.0.0.1:${rig.running.port}`;

/** As any program would, with exactly these headers. */
function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<number> {
  return new Promise((resolve, reject) => {
    const asked = request(
      { host: '127.0.0.1', port: rig.running.port, method, path, headers },
      (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      },
    );
    asked.on('upgrade', (_response, socket) => {
      socket.destroy();
      resolve(101);
    });
    asked.on('error', reject);
    asked.end();
  });
}

describe('without its token', () => {
  it('[2] [3] [31] every address but those that say nothing is refused, with a wrong one too', async () => {
    const { paths } = (await rig.get('/openapi.json')).body;
    const addresses = Object.entries(paths)
      .filter(([path]) => !OPEN.includes(path))
      .flatMap(([path, methods]) =>
        Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
      );
    for (const path of ['/health', '/healthz', '/readyz'])
      expect(paths[path]).toMatchObject({ get: { security: [] } });
    expect(addresses.length).toBeGreaterThan(12);
    const others = ['/metrics', '/nowhere'].map((path) => ({ method: 'GET', path }));
    for (const { method, path } of [...addresses, ...others]) {
      const at = path.replaceAll(/\{\w+\}/g, '00000000');
      expect([method, at, await ask(method, at)]).toEqual([method, at, 401]);
      expect([method, at, await ask(method, at, { authorization: 'Bearer wrong' })]).toEqual([
        method,
        at,
        401,
      ]);
      expect(await ask(method, at, { authorization: 'Bearer second-token' })).not.toBe(401);
    }
    for (const path of OPEN) expect([path, await ask('GET', path)]).toEqual([path, 200]);
    const { headers } = await rig.get('/nowhere');
    expect(headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
  });

  it('an agent may call its hooks with its own token only', async () => {
    const session = await rig.session();
    expect(await ask('POST', `/hooks/${session}`, { authorization: 'Bearer second-token' })).toBe(401);
  });
});

describe('a web page', () => {
  const bearer = { authorization: 'Bearer second-token' };

  it.each([
    ['another site', { origin: 'https://evil.example' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['a file or a sandbox', { origin: 'null' }],
    ['a name that was rebound', { host: 'evil.example' }],
    ['a name that was rebound, with our port', { host: 'evil.example:PORT' }],
  ])('of %s is refused everywhere, with a token and at open addresses too', async (_whose, headers) => {
    const sent = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, value.replace('PORT', String(rig.running.port))]),
    );
    for (const path of [...OPEN, '/sessions', '/nowhere', '/hooks/00000000'])
      for (const method of ['GET', 'POST', 'OPTIONS'])
        expect([path, method, await ask(method, path, { ...sent, ...bearer })]).toEqual([path, method, 403]);
  });

  it('of another site is refused also where no token is asked for', async () => {
    await rig.running.stop();
    await rig.start(['--insecure-no-auth']);
    const before = rig.store.sessions(10).length;
    expect(await ask('GET', '/sessions')).toBe(200);
    expect(await ask('POST', '/sessions', { origin: 'https://evil.example' })).toBe(403);
    expect(await ask('POST', '/sessions', { host: 'evil.example' })).toBe(403);
    expect(rig.store.sessions(10)).toHaveLength(before);
    await rig.running.stop();
    await rig.start(['--auth-token', 'second-token']);
  });
});

/** What stands on the wire, as it is: also what no client of Node would send. */
async function askRaw(lines: readonly string[]): Promise<string> {
  return (await askWhole(lines)).split('\r\n')[0] ?? '';
}

function askWhole(lines: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(rig.running.port, '127.0.0.1', () =>
      socket.write(`${lines.join('\r\n')}\r\n\r\n`),
    );
    let text = '';
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      socket.end();
    });
    socket.on('error', reject).on('close', () => resolve(text));
  });
}

describe('[C-55] a web page', () => {
  const bearer = { authorization: 'Bearer second-token' };
  const UPGRADE = {
    ...{ connection: 'Upgrade', upgrade: 'websocket' },
    ...{ 'sec-websocket-version': '13', 'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==' },
  };
  const ADDRESSES = ['/sessions', '/stream?sessionId=00000000', '/mcp/00000000', '/openapi.json', '/nowhere'];
  const FOREIGN: readonly (readonly [string, (port: number) => Record<string, string>])[] = [
    ['another site', () => ({ origin: 'https://evil.example' })],
    ['a sandbox', () => ({ origin: 'null' })],
    ['another port', () => ({ origin: 'http://127.0.0.1:1' })],
    ['a name that begins like ours', (port) => ({ origin: `http://127.0.0.1.evil.example:${port}` })],
    ['our address, but https', (port) => ({ origin: `https://127.0.0.1:${port}` })],
    ['a rebound name', (port) => ({ host: `evil.example:${port}` })],
    ['a rebound name that begins like ours', (port) => ({ host: `127.0.0.1.evil.example:${port}` })],
    ['a rebound name that ends like ours', (port) => ({ host: `evil-localhost:${port}` })],
    ['a name with ours before an @', (port) => ({ host: `127.0.0.1:${port}@evil.example` })],
  ];

  it.each(FOREIGN)('of %s gets 403 and no socket, whatever it asks for', async (_whose, headers) => {
    const sent = { ...headers(rig.running.port), ...bearer };
    for (const path of ADDRESSES) {
      for (const method of ['GET', 'POST', 'DELETE', 'OPTIONS', 'HEAD'])
        expect([path, method, await ask(method, path, sent)]).toEqual([path, method, 403]);
      expect([path, 'upgrade', await ask('GET', path, { ...sent, ...UPGRADE })]).toEqual([
        path,
        'upgrade',
        403,
      ]);
    }
  });

  it('of another site cannot open a socket with a ticket either, and the ticket is still good', async () => {
    const session = await rig.session();
    const { ticket } = JSON.parse((await rig.post('/stream/tickets')).text) as { ticket: string };
    const query = `?sessionId=${session}&ticket=${ticket}`;
    const foreign = new SocketReader(rig, query, { origin: 'https://evil.example' });
    await foreign.over();
    expect([foreign.status, foreign.frames]).toEqual([403, []]);
    const ours = await new SocketReader(rig, query, { origin: `http://${own()}` }).caughtUp();
    await ours.close();
  });

  it('that asks whether it may gets no leave, of our own site neither', async () => {
    const asks = {
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'authorization',
    };
    for (const origin of ['https://evil.example', `http://${own()}`]) {
      const { status, headers } = await rig.call('OPTIONS', '/sessions', undefined, { ...asks, origin });
      expect(status).toBe(origin.includes('evil') ? 403 : 404);
      expect([...headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
    }
  });

  it('cannot do anything with what pages may send without asking: forms and plain text', async () => {
    const before = rig.store.sessions(100).length;
    for (const type of [
      'text/plain',
      'text/plain; charset=utf-8',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'text/plain; application/json',
    ])
      for (const path of ['/sessions', '/stream/tickets', '/mcp/00000000', '/hooks/00000000']) {
        const { status, body } = await rig.call('POST', path, '{"title":"planted"}', {
          'content-type': type,
        });
        expect([type, path, status, body.code]).toEqual([type, path, 415, 'UNSUPPORTED_MEDIA_TYPE']);
      }
    expect(rig.store.sessions(100)).toHaveLength(before);
  });

  it('and every program must name this machine: a request without Host is refused', async () => {
    const token = 'Authorization: Bearer second-token';
    expect(await askRaw(['GET /sessions HTTP/1.0', token])).toMatch(/ 403 /);
    expect(await askRaw(['GET /sessions HTTP/1.1', token])).toMatch(/ 400 /);
    expect(await askRaw(['GET /sessions HTTP/1.1', 'Host:', token])).toMatch(/ 403 /);
    expect(await askRaw(['GET /sessions HTTP/1.1', `Host: ${own()}`, token])).toMatch(/ 200 /);
    const upgrade = Object.entries(UPGRADE).map(([name, value]) => `${name}: ${value}`);
    expect(await askRaw(['GET /stream HTTP/1.1', 'Host: evil.example', token, ...upgrade])).toMatch(/ 403 /);
  });
});

describe('a body', () => {
  it('that is too large or no JSON is refused, and changes nothing', async () => {
    const before = rig.store.sessions(100).length;
    const post = async (body: string) => {
      const { status, body: problem } = await rig.post('/sessions', body);
      return [status, problem.code];
    };
    expect(await post(`{"title":"${'x'.repeat(1024 * 1024)}"}`)).toEqual([413, 'BODY_TOO_LARGE']);
    for (const bad of ['{"title":', '{title:1}', "{'title':'x'}", '{"title":"x"} {}', '\u0000'])
      expect([bad, ...(await post(bad))]).toEqual([bad, 400, 'INVALID_JSON']);
    for (const [open, close] of [['{"a":', '}'] as const, ['[', ']'] as const]) {
      const deep = `{"metadata":{"a":${open.repeat(9_000)}1${close.repeat(9_000)}}}`;
      expect(await post(deep)).toEqual([400, 'INVALID_JSON']);
    }
    for (const other of ['[]', '"text"', '1'])
      expect([other, ...(await post(other))]).toEqual([other, 422, 'INVALID_INPUT']);
    expect(rig.store.sessions(100)).toHaveLength(before);
  });
});

describe('a port', () => {
  it('that this machine does not have is named, and is no fault of ours', async () => {
    const other = new GatewayRig();
    mkdirSync(other.work);
    await expect(other.start(['--host', '203.0.113.9', '--port', '0'])).rejects.toMatchObject({
      code: 'PORT_NOT_OPENED',
    });
    rmSync(other.folder, { recursive: true });
  });

  it('[10] that is taken is named with who has it', async () => {
    const other = new GatewayRig();
    try {
      mkdirSync(other.work);
      await expect(
        other.start(['--port', String(rig.running.port), '--auth-token', 'x']),
      ).rejects.toMatchObject({
        ...{ code: 'PORT_IN_USE', exitCode: 1 },
        message: expect.stringContaining('another agentd') as string,
      });
    } finally {
      rmSync(other.folder, { recursive: true, force: true });
    }
  });
});

describe('an address', () => {
  const bearer = 'Authorization: Bearer second-token';

  it('[14] that names nothing there is, in whatever form, is not found', async () => {
    for (const id of ['00000000', 'nope', 'sess_01J', encodeURIComponent('a/b ü'), 'x'.repeat(200)])
      for (const [path, code] of [
        [`/sessions/${id}`, 'SESSION_NOT_FOUND'],
        [`/runs/${id}`, 'RUN_NOT_FOUND'],
      ] as const) {
        const { status, body } = await rig.get(path);
        expect([path, status, body.code]).toEqual([path, 404, code]);
      }
    const { status, body } = await rig.get(`/sessions/${'x'.repeat(500)}`);
    expect([status, body.code, body.field]).toEqual([422, 'INVALID_INPUT', 'session_id']);
  });

  it('that cannot be decoded, and what is no HTTP, are problems like all others', async () => {
    for (const [lines, status] of [
      [['GET /sessions/%ff HTTP/1.1', `Host: ${own()}`, bearer], 404],
      [['GET /sessions/%ff HTTP/1.1', 'Host: evil.example', bearer], 403],
      [['what is this'], 400],
      [['GET /sessions HTTP/1.1', `Host: ${own()}`, `X-Long: ${'x'.repeat(20_000)}`], 431],
    ] as const) {
      const answer = await askWhole(lines);
      expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
      expect(answer).toMatch(/content-type: application\/problem\+json/i);
      expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))).toMatchObject({ status, code: /./ });
    }
  });

  it('that takes other methods says which', async () => {
    const { status, body, headers } = await rig.call('PUT', '/sessions');
    expect([status, body.code, headers.get('allow')]).toEqual([405, 'METHOD_NOT_ALLOWED', 'POST, GET']);
  });

  it('says whose request it answers, where the caller named it', async () => {
    const { headers } = await rig.call('GET', '/health', undefined, { 'x-request-id': 'mine-1' });
    expect(headers.get('x-request-id')).toBe('mine-1');
  });

  it('[70] is in OpenAPI 3.1 with what it takes and gives, and the pages that show it load', async () => {
    const document = JSON.parse((await rig.get('/openapi.json')).text) as Record<string, unknown>;
    expect(document['openapi']).toBe('3.1.0');
    expect(document).toMatchObject({
      paths: { '/runs/{run_id}': { get: { responses: { 200: { content: { 'application/json': {} } } } } } },
    });
    expect(document).toMatchObject({
      paths: {
        '/stream': { get: { responses: { 101: {}, 200: { content: { 'text/event-stream': {} } } } } },
        '/stream/tickets': { post: { responses: { 201: { content: { 'application/json': {} } } } } },
      },
    });
    const page = await rig.get('/api/docs/');
    expect(page.text).toContain('swagger-ui');
    expect(page.headers.get('content-security-policy')).toMatch(/default-src/);
    expect(page.headers.get('content-security-policy')).not.toContain('upgrade-insecure-requests');
    expect(JSON.parse((await rig.get('/api/docs/json')).text)).toMatchObject({ openapi: '3.1.0' });
  });
});
