import { execFile } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import openapiTS, { astToString, type OpenAPI3 } from 'openapi-typescript';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';
import { checkAgainst } from '../../support/openapi-check.js';

const SCRIPT = `
name: openapi
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
`;

/** What somebody writes against the document: no type of it is ours. */
const CLIENT = `
import createClient from 'openapi-fetch';
import type { paths } from './gateway.js';

const { URL: baseUrl = '', TOKEN = '' } = process.env;
const client = createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${TOKEN}\` } });

const made = await client.POST('/sessions', { body: { title: 'typed' } });
if (made.data === undefined) throw new Error(made.error.detail);
const session_id: string = made.data.session.id;
const sent = await client.POST('/sessions/{session_id}/messages', {
  params: { path: { session_id } },
  body: { text: 'say typed' },
});
const run_id = sent.data?.run?.id ?? '';
const { data } = await client.GET('/runs/{run_id}/wait', {
  params: { path: { run_id }, query: { timeout_s: 45 } },
});
const answer: string | null | undefined = data?.run.result_text;
const refused = await client.GET('/runs/{run_id}', { params: { path: { run_id: 'nowhere' } } });
const code: string | undefined = refused.error?.code;
console.log(JSON.stringify({ title: made.data.session.title, answer, code }));
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const document = async () => JSON.parse((await rig.get('/openapi.json')).text) as OpenAPI3;

it('[70] the document that is served is what the answers of these tests are held against', async () => {
  const { text, status, headers } = await rig.post('/sessions');
  const check = checkAgainst(await document());
  const exchange = { method: 'POST', path: '/sessions', status, type: headers.get('content-type') ?? '' };
  const body = () => JSON.parse(text) as { session: Record<string, unknown> };
  check({ ...exchange, body: body() });
  const [more, less] = [body(), body()];
  more.session['secret'] = 'x';
  delete less.session['cwd'];
  for (const wrong of [more, less])
    expect(() => check({ ...exchange, body: wrong })).toThrow('is not what the OpenAPI document says');
  expect(() => check({ ...exchange, status: 202, body: body() })).toThrow('does not have');
  const lost = { method: 'GET', path: '/nowhere', status: 404, type: 'application/problem+json' };
  expect(() => check({ ...lost, body: { detail: 'gone' } })).toThrow('is not what');
});

it(
  '[70] a client with types made from the document compiles and talks to the daemon',
  { timeout: 240_000 },
  async () => {
    const folder = join(rig.folder, 'client');
    mkdirSync(folder);
    symlinkSync(resolve('node_modules'), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
    writeFileSync(join(folder, 'gateway.d.ts'), astToString(await openapiTS(await document())));
    writeFileSync(join(folder, 'client.ts'), CLIENT);
    const run = promisify(execFile);
    writeFileSync(
      join(folder, 'wrong.ts'),
      CLIENT.replace("title: 'typed' }", 'title: 7 }').replace('session.title', 'session.name'),
    );
    // Both at once, since most of the time is the compiler's own; what is wrong in one is emitted all the same.
    const flags = [
      '--strict',
      '--skipLibCheck',
      '--target',
      'es2023',
      '--module',
      'nodenext',
      '--types',
      'node',
    ];
    const tsc = [resolve('node_modules/typescript/bin/tsc'), ...flags, 'client.ts', 'wrong.ts'];
    const said: unknown = await run(process.execPath, tsc, { cwd: folder }).catch((error: unknown) => error);
    const errors = String((said as { stdout?: string }).stdout).match(/^\S+\.ts(?=\(.*error TS)/gm) ?? [];
    expect(errors).toEqual(['wrong.ts', 'wrong.ts']);

    const env = { PATH: process.env['PATH'], URL: rig.running.url, TOKEN: rig.token };
    const { stdout } = await run(process.execPath, ['client.js'], { cwd: folder, env });
    expect(JSON.parse(stdout)).toEqual({ title: 'typed', answer: 'I say typed', code: 'RUN_NOT_FOUND' });
  },
);
