import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { commandOf, flagsOf } from '../../../src/doors/agentctl/commands.js';
import { usageLine } from '../../../src/doors/agentctl/input.js';
import { CLIENTS, defineGatewayOperation } from '../../../src/services/gateway/operation.js';
import { GATEWAY_OPERATIONS } from '../../../src/services/gateway/operations/index.js';
import { AgentctlRig } from './rig.js';

let rig: AgentctlRig;
beforeEach(async () => {
  rig = new AgentctlRig();
  await rig.start();
});
afterEach(() => rig.close());

const SESSION = '01234567';

describe('the table as commands', () => {
  it('[60] has a command of its own for every operation, and help that names it', async () => {
    const names = GATEWAY_OPERATIONS.flatMap((operation) => commandOf(operation).names);
    expect(names).toEqual([...new Set(names)]);
    const { out } = await rig.run(['--help']);
    for (const operation of GATEWAY_OPERATIONS)
      expect(out).toContain(commandOf(operation).names[0] ?? 'nothing');
  });

  it('[60] is named as the documents name it', () => {
    expect(GATEWAY_OPERATIONS.map((operation) => commandOf(operation).names[0])).toEqual(
      expect.arrayContaining([
        ...['session create', 'session list', 'session get', 'message send', 'events list', 'run create'],
        ...['run get', 'run wait', 'run cancel', 'daemon status'],
      ]),
    );
  });

  it('shows an operation that comes to the table without a line of its own here', () => {
    const command = commandOf(
      defineGatewayOperation({
        name: 'spawn_child',
        summary: 'Begin a child.',
        ...{ effect: 'write', idempotent: false, scopes: CLIENTS },
        address: { method: 'POST', path: '/runs/{run_id}/spawn', status: 202 },
        input: z.object({ run_id: z.string(), task: z.string(), idempotency_key: z.string().optional() }),
        output: z.object({}),
        run: () => Promise.resolve({}),
      }),
    );
    expect(command.names).toEqual(['child spawn']);
    expect(usageLine(command)).toBe('agentctl child spawn RUN_ID TASK');
  });

  it('[65] takes an idempotency key wherever the operation does', () => {
    const takers = GATEWAY_OPERATIONS.filter(({ input }) => 'idempotency_key' in input.shape);
    expect(takers.length).toBeGreaterThan(0);
    for (const operation of takers) expect(flagsOf(commandOf(operation))).toHaveProperty('idempotency-key');
  });
});

describe('what is sent', () => {
  it('puts fields into the address, the query, or the body', async () => {
    await rig.run(['run', 'wait', '--run-id', 'a/b', '--timeout-s', '5']);
    expect(rig.last).toMatchObject({ method: 'GET', url: '/runs/a%2Fb/wait?timeout_s=5', body: undefined });
    await rig.run(['message', 'send', '--session-id', SESSION, '--text', 'hi', '--timeout-s', '7']);
    expect(rig.last).toMatchObject({
      ...{ method: 'POST', url: `/sessions/${SESSION}/messages` },
      body: { text: 'hi', timeout_s: 7 },
    });
    await rig.run(['session', 'create', '--metadata', 'a=1=2', '--metadata', 'b=']);
    expect(rig.last?.body).toEqual({ metadata: { a: '1=2', b: '' } });
    await rig.run(['events', 'list', SESSION, '--type', 'a.b', '--types', 'c.d,e.f']);
    expect(rig.last?.url).toBe(`/sessions/${SESSION}/events?types=c.d&types=e.f&types=a.b`);
  });

  it.each([
    [['--provider', 'one'], { provider: 'one' }],
    [['--provider', 'one,two'], { providers: ['one', 'two'] }],
    [['--provider', 'one', '--provider', 'two'], { providers: ['one', 'two'] }],
    [['--providers', 'one,two'], { providers: ['one', 'two'] }],
    [['--providers', 'one'], { providers: ['one'] }],
  ])('[59] takes one provider or several: %j', async (flags, body) => {
    await rig.run(['session', 'create', ...flags]);
    expect(rig.last?.body).toEqual(body);
    await rig.run(['session', 'update', SESSION, ...flags]);
    expect(rig.last).toMatchObject({ method: 'PATCH', url: `/sessions/${SESSION}`, body });
  });

  it('takes the text from standard input for -', async () => {
    await rig.run(['send', SESSION, '-'], {}, { readStdin: () => Promise.resolve('two\nlines') });
    expect(rig.last?.body).toEqual({ text: 'two\nlines' });
  });

  it.each([
    ['before', ['--format', 'json', '--auth-token', 'T', 'session', 'list']],
    ['behind', ['session', 'list', '--auth-token=T', '--format=json']],
  ])('[63] takes its own flags %s the command', async (_, args) => {
    rig.answer.body = { sessions: [] };
    expect(await rig.run(args, { AGENTCTL_AUTH_TOKEN: 'other' })).toEqual({
      ...{ code: 0, out: '{"sessions":[]}\n', err: '' },
    });
    expect(rig.last?.token).toBe('Bearer T');
  });

  it('[63] takes the token of the environment where no flag is given', async () => {
    await rig.run(['session', 'list'], { AGENTCTL_AUTH_TOKEN: 'E' });
    expect(rig.last?.token).toBe('Bearer E');
  });

  it('inside an agent means its own session and run, but never to end them', async () => {
    const env = { AGENTORCHESTR_SESSION_ID: SESSION, AGENTORCHESTR_RUN_ID: 'r1' };
    await rig.run(['run', 'get'], env);
    expect(rig.last?.url).toBe('/runs/r1');
    await rig.run(['events', 'list'], env);
    expect(rig.last?.url).toBe(`/sessions/${SESSION}/events`);
    const sent = rig.requests.length;
    expect((await rig.run(['run', 'cancel'], env)).code).toBe(64);
    expect((await rig.run(['session', 'archive'], env)).code).toBe(64);
    expect(rig.requests).toHaveLength(sent);
  });
});

describe('what is printed', () => {
  it('[61] prints pretty, json, jsonl and text', async () => {
    rig.answer.body = { sessions: [{ id: 'a' }, { id: 'b', tags: ['x'] }], next_cursor: null };
    const as = async (format: string) => (await rig.run(['session', 'list', '--format', format])).out;
    expect(await as('pretty')).toBe(`${JSON.stringify(rig.answer.body, null, 2)}\n`);
    expect(await as('json')).toBe(`${JSON.stringify(rig.answer.body)}\n`);
    expect(await as('jsonl')).toBe('{"id":"a"}\n{"id":"b","tags":["x"]}\n');
    expect(await as('text')).toBe('id: a\n\nid: b\ntags.0: x\n');
  });

  it.each([
    ['session.id', 'abc'],
    ['session.n', '3'],
    ['session.none', 'null'],
    ['list.1.a', '{"b":2}'],
  ])('[61] --field %s prints only %s', async (path, printed) => {
    rig.answer.body = { session: { id: 'abc', n: 3, none: null }, list: [1, { a: { b: 2 } }] };
    expect(await rig.run(['--field', path, 'session', 'create'])).toEqual({
      ...{ code: 0, out: `${printed}\n`, err: '' },
    });
  });

  it.each(['session.other', 'session.id.length', 'list.2', 'constructor'])(
    '[62] --field %s, which is not there, ends with 5 and prints nothing',
    async (path) => {
      rig.answer.body = { session: { id: 'abc' }, list: [1] };
      expect(await rig.run(['session', 'create', '--field', path])).toMatchObject({ code: 5, out: '' });
    },
  );

  it("keeps an agent's control sequences from a terminal, and gives them to a pipe as they are", async () => {
    rig.answer.body = { text: 'a\u001b[2Jb' };
    const args = ['--field', 'text', 'session', 'create'];
    expect((await rig.run(args)).out).toBe('a\u001b[2Jb\n');
    let shown = '';
    await rig.run(args, {}, { stdoutIsTty: true, out: (text) => (shown += text) });
    expect(shown).toBe('ab\n');
  });
});

describe('how it ends', () => {
  it.each([
    ['succeeded', true, 0],
    ['failed', true, 2],
    ['cancelled', true, 2],
    ['timed_out', true, 2],
    ['running', false, 20],
    ['waiting', false, 20],
  ])('[64] a wait for a run that is %s', async (state, done, code) => {
    rig.answer.body = { run: { state }, done, timed_out: !done };
    expect((await rig.run(['run', 'wait', 'r1', '--timeout-s', '0'])).code).toBe(code);
  });

  it.each([
    ['RUN_NOT_FOUND', 404, 1, 'do that'],
    ['INVALID_INPUT', 422, 64, 'do that'],
    // Which token is wanted we know better than who wants it.
    [
      'UNAUTHENTICATED',
      401,
      4,
      'give the token that this daemon was started with: --auth-token TOKEN, or AGENTCTL_AUTH_TOKEN',
    ],
    ['SHUTTING_DOWN', 503, 3, 'do that'],
    ['SOMETHING_NEW', 418, 1, 'do that'],
  ])(
    '[64] [66] an answer of %s: nothing on stdout, one line of JSON on stderr',
    async (code, status, exit, hint) => {
      rig.answer = { status, body: { code, detail: 'so it is', hint: 'do that' } };
      const said = await rig.run(['run', 'get', 'r1', '--format', 'json']);
      expect(said).toMatchObject({ code: exit, out: '' });
      expect(said.err.trimEnd().split('\n')).toHaveLength(1);
      expect(JSON.parse(said.err)).toMatchObject({ error: { message: 'so it is', hint } });
    },
  );

  it('[64] nobody there, and somebody else there, is 3', async () => {
    const nobody = await rig.run(['--url', 'http://127.0.0.1:1', 'session', 'list']);
    expect(nobody).toMatchObject({ code: 3, out: '' });
    rig.answer.body = '<html>';
    expect(await rig.run(['session', 'list'])).toMatchObject({ code: 3, out: '' });
  });

  it('[67] a daemon that died and left its file is stale, and whoever took its port gets no token', async () => {
    const folder = join(rig.home, '.local/state/agentorchestr/daemons');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(rig.home, 'token'), 'its-token');
    const file = { pid: 1, pid_started_at: 'never', boot_id: 'other', url: rig.url, database: "/it's db" };
    const rest = { token_file: join(rig.home, 'token'), instance_id: 'i', version: '0' };
    writeFileSync(join(folder, 'x.json'), JSON.stringify({ ...file, ...rest }));
    const said = await rig.run(['daemon', 'status']);
    expect(said).toMatchObject({ code: 3, out: '' });
    expect(said.err).toContain('stale');
    expect(said.err).toContain("agentctl daemon start --db '/it'\\''s db'");
    expect(rig.requests).toEqual([]);
    expect(await rig.run(['daemon', 'stop', '--format', 'json'])).toMatchObject({
      ...{ code: 0, out: '{"stopped":false,"was_running":false,"pid":1}\n' },
    });
  });

  it.each([
    [['sesion', 'list'], 'did you mean session list?'],
    [['run', 'wat'], 'there is: run create'],
    [['run', 'wait', 'r1', '--timout-s', '3'], 'did you mean --timeout-s?'],
    [['run', 'wait'], 'write agentctl run wait RUN_ID'],
    [['run', 'get', 'r1', 'r2'], 'write agentctl run get RUN_ID'],
    [['--format', 'xml', 'session', 'list'], 'pretty, json, jsonl, text'],
    [['--url', 'somewhere', 'session', 'list'], 'http://127.0.0.1:8765'],
    [['session', 'create', '--metadata', 'x'], '--metadata team=blue'],
    [['events', 'tail'], 'write agentctl events tail SESSION_ID'],
  ])('%j is wrong usage: 64, and says how it is right', async (args, words) => {
    const said = await rig.run(args);
    expect(said).toMatchObject({ code: 64, out: '' });
    expect(said.err).toContain(words);
    expect(rig.requests).toEqual([]);
  });

  it('warns of a daemon of another version', async () => {
    rig.answer.body = { version: '99.0.0' };
    expect((await rig.run(['daemon', 'status'])).err).toContain('this agentd is version 99.0.0');
    expect((await rig.run(['daemon', 'status', '--quiet'])).err).toBe('');
  });

  it.each([[['run', 'wait', '--help']], [['events', 'tail', '--help']], [['daemon', 'start', '--help']]])(
    'explains %j without asking anybody',
    async (args) => {
      const said = await rig.run(args);
      expect(said).toMatchObject({ code: 0, err: '' });
      expect(said.out).toContain(`agentctl ${args[0]} ${args[1]}`);
      expect(rig.requests).toEqual([]);
    },
  );
});

describe('a wait', () => {
  const run = (state: string, done: boolean) => ({ run: { id: 'r1', state }, done, timed_out: !done });
  const wait = ['run', 'wait', 'r1', '--field', 'run.state'];

  it('goes on when agentd goes away in the middle and comes back, with the time that is left', async () => {
    rig.answer = { status: 200, body: run('succeeded', true) };
    rig.first.push('hang up', 'hang up');
    const said = await rig.run([...wait, '--timeout-s', '600']);
    expect(said).toEqual({
      ...{ code: 0, out: 'succeeded\n' },
      err: 'note: agentd is away; waiting for it\nnote: agentd answers again; waiting on\n',
    });
    const asked = rig.requests.map(({ url }) => Number(/timeout_s=(\d+)/.exec(url)?.[1]));
    expect(asked).toHaveLength(3);
    expect(asked[0]).toBe(600);
    expect(asked[2]).toBeLessThanOrEqual(600);
  });

  it('that is let go before its time is up asks again', async () => {
    rig.answer = { status: 200, body: run('succeeded', true) };
    rig.first.push({ status: 200, body: run('queued', false) });
    expect(await rig.run(wait)).toEqual({ code: 0, out: 'succeeded\n', err: '' });
    rig.answer = { status: 200, body: run('queued', false) };
    const over = await rig.run([...wait, '--timeout-s', '0']);
    expect(over).toMatchObject({ code: 20, out: 'queued\n', err: '' });
  });

  it('for an agentd that is not there fails at once, and one that changes something is asked once', async () => {
    rig.first.push('hang up');
    expect((await rig.run(['send', SESSION, 'hello'])).code).toBe(3);
    expect(rig.requests).toHaveLength(1);
    const away = await rig.run(['--url', 'http://127.0.0.1:1', ...wait]);
    expect(away).toMatchObject({ code: 3, out: '' });
    expect(away.err).not.toContain('waiting for it');
  });
});

it('JSON for people and programs holds nothing that steers a terminal, and the same values', async () => {
  const text = 'a\u009b2Jb\u007f\u001b[2J';
  rig.answer = { status: 200, body: { run: { id: text } } };
  for (const format of ['pretty', 'json', 'jsonl']) {
    const { out } = await rig.run(['--format', format, 'run', 'get', 'r1']);
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f-\u009f]/);
    expect(JSON.parse(out)).toEqual({ run: { id: text } });
  }
});

it('an agent is not given the means to stop the agentd that it works for', async () => {
  const said = await rig.run(['daemon', 'stop'], { AGENTORCHESTR_RUN_ID: 'r1' });
  expect(said).toMatchObject({ code: 64, err: expect.stringContaining('leave that to the person') });
});

it('an agentd that answers and left no file is not said to be away', async () => {
  rig.answer = { status: 200, body: { service: 'agentd', status: 'ok', version: '1', instance_id: 'x' } };
  const said = await rig.run(['daemon', 'stop']);
  expect(said).toMatchObject({ code: 1, out: '', err: expect.stringContaining('which process it is') });
});

it.each([
  ['the last ones', [], 1],
  ['a cursor', ['--cursor', '5'], 0],
])(
  '[26] a tail that follows from %s goes on when agentd is away before anything new came',
  async (_what, from, pages) => {
    const over = new AbortController();
    const page = (...seqs: number[]) => ({
      events: seqs.map((seq) => ({ seq, cursor: String(seq) })),
      ...{ next_cursor: String(seqs.at(-1) ?? 5), has_more: false },
    });
    for (let index = 0; index < pages; index++) rig.first.push({ status: 200, body: page() });
    rig.first.push('hang up', 'hang up', { status: 200, body: page(6, 7) });
    rig.answer = { status: 200, body: page() };
    const out: string[] = [];
    const said = await rig.run(
      ['events', 'tail', SESSION, '--follow', '--field', 'seq', ...from],
      {},
      {
        interrupted: () => over.signal,
        out: (text) => {
          out.push(text);
          if (text === '7\n') over.abort();
        },
      },
    );
    expect(said).toMatchObject({ code: 0, err: expect.stringContaining('answers again; going on after 5') });
    expect(out).toEqual(['6\n', '7\n']);
  },
);

it.each(['run', 'runs', 'daemon', 'events', 'session'])(
  '%s --help names the commands that begin so',
  async (group) => {
    const { code, out } = await rig.run([group, '--help']);
    expect(code).toBe(0);
    const named = out.split('\n').flatMap((line) => /^ {2}(\w+) \S+ .*\S/.exec(line)?.[1] ?? []);
    expect(new Set(named)).toEqual(new Set([group.replace(/^runs$/, 'run')]));
  },
);
