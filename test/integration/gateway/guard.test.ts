import { mkdirSync, rmSync } from 'node:fs';
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start('name: none\nworkers: []\n', ['--auth-token', 'second-token']);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const OPEN = ['/health', '/healthz', '/readyz', '/openapi.json', '/api/docs/'];

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
    asked.on('error', reject);
    asked.end();
  });
}

describe('without its token', () => {
  it('[2] [3] [31] every address but those that say nothing is refused, with a wrong one too', async () => {
    const { paths } = (await rig.get('/openapi.json')).body;
    const addresses = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => ({ method: method.toUpperCase(), path })),
    );
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

describe('a port', () => {
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
    const page = await rig.get('/api/docs/');
    expect(page.text).toContain('swagger-ui');
    expect(JSON.parse((await rig.get('/api/docs/json')).text)).toMatchObject({ openapi: '3.1.0' });
  });
});
