import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiledRoot } from '../../support/compiled.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

const SCRIPT = `
name: agentctl
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
  - contains: hang
    steps: [{ say: hanging }, { silence: true }]
`;
const LIMIT_MS = 60_000;

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

let box: Sandbox;
let work: string;
let program: string;
let start: string[];
const env: Record<string, string> = {};

function begin(args: readonly string[], more: Readonly<Record<string, string>> = {}): ChildProcess {
  return spawn(process.execPath, [program, ...args], {
    ...{ cwd: work, env: { ...box.env, ...env, ...more } },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

async function agentctl(args: readonly string[], stdin = '', more = {}): Promise<Said> {
  const child = begin(args, more);
  const said = { out: '', err: '' };
  child.stdout!.on('data', (chunk) => (said.out += String(chunk)));
  child.stderr!.on('data', (chunk) => (said.err += String(chunk)));
  child.stdin!.end(stdin);
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

/** The answer of a command that has to succeed. */
async function json<T>(...args: string[]): Promise<T> {
  const { code, out, err } = await agentctl(['--format', 'json', ...args]);
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  expect(out.trimEnd().split('\n')).toHaveLength(1);
  return JSON.parse(out) as T;
}

async function field(path: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await agentctl([...args, '--field', path]);
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  return out.trimEnd();
}

async function until(what: string, condition: () => boolean): Promise<void> {
  const deadline = Date.now() + LIMIT_MS;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

interface Event {
  readonly cursor: string;
  readonly type: string;
  readonly data: { readonly text?: string };
}

// Each command is a process of its own; many of them take long where much else runs.
describe('agentctl and a real agentd', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    box = createSandbox();
    work = box.folder('work');
    writeFileSync(join(box.root, 'script.yaml'), SCRIPT);
    program = join(await compiledRoot(), 'bin/agentctl.cjs');
    start = [
      ...['daemon', 'start', '--default-provider', 'scripted', '--grace', '5'],
      ...['--agent-option', `scripted.script=${join(box.root, 'script.yaml')}`],
    ];
    const { url } = await json<{ url: string }>(...start, '--port', '0');
    env['AGENTCTL_URL'] = url;
  }, 180_000);
  afterAll(async () => {
    await agentctl(['daemon', 'stop']);
    await box.close();
  }, 90_000);

  const session = () => field('session.id', 'session', 'create');

  it('[60] [61] [66] begins a conversation, says something, waits for the answer and reads it back', async () => {
    const id = await session();
    expect(id).toMatch(/^[0-9a-f]{8}$/);
    const run = await field('run.id', 'message', 'send', id, 'say hello');
    expect(await field('run.result_text', 'run', 'wait', run)).toBe('I say hello');
    expect((await json<{ run: { state: string } }>('run', 'get', '--run-id', run)).run.state).toBe(
      'succeeded',
    );
    expect(await field('session.state', 'sessions', 'get', id)).toBe('idle');
    expect(await field('sessions.0.id', 'session', 'list', '--limit', '1')).toBe(id);
    expect(await field('messages.1.text', 'message', 'list', id)).toBe('I say hello');
    expect(await field('queue_counts.queued_count', 'daemon', 'status')).toBe('0');
    expect(await field('run.parent_run_id', 'run', 'get', run)).toBe('null');
    const lines = (await agentctl(['events', 'tail', id, '--types', 'run.queued,run.succeeded'])).out;
    expect(
      lines
        .trimEnd()
        .split('\n')
        .map((line) => (JSON.parse(line) as Event).type),
    ).toEqual(['run.queued', 'run.succeeded']);
    expect(await field('session.state', 'session', 'archive', id)).toBe('archived');
    expect((await agentctl(['send', id, 'say more'])).code).toBe(1);
  });

  it('[64] ends with 2 for a run that ended otherwise, 20 for one that goes on, and cancels it', async () => {
    const id = await session();
    const run = await field('run.id', 'run', 'create', id, 'hang');
    const waited = await agentctl(['--format', 'json', 'tool', 'session-wait', run, '--timeout-s', '0']);
    expect(waited).toMatchObject({ code: 20, err: '' });
    expect(JSON.parse(waited.out)).toMatchObject({ done: false, timed_out: true });
    expect((await agentctl(['run', 'cancel', run])).code).toBe(0);
    const over = await agentctl(['--field', 'run.state', 'run', 'wait', run]);
    const why = 'note: its run ended as cancelled: cancelled by client\n';
    expect(over).toEqual({ code: 2, out: 'cancelled\n', err: why });
    const quiet = await agentctl(['--quiet', '--field', 'run.state', 'run', 'wait', run]);
    expect(quiet).toEqual({ code: 2, out: 'cancelled\n', err: '' });
  });

  it('[65] does nothing twice for the same idempotency key, and reads a long text from standard input', async () => {
    const id = await session();
    const send = ['message', 'send', id, '-', '--idempotency-key', 'k1', '--format', 'json'];
    const [first, second] = [await agentctl(send, 'say once'), await agentctl(send, 'say once')];
    const [one, two] = [first, second].map(({ out }) => JSON.parse(out) as { run: { id: string } });
    expect(two).toMatchObject({ run: { id: one!.run.id }, idempotent_replay: true });
    expect((await agentctl(send, 'say other')).code).toBe(1);
  });

  it('[63] [64] is refused with a wrong token, which wins over the one it would find', async () => {
    const refused = await agentctl(['--auth-token', 'wrong', '--format', 'json', 'session', 'list']);
    expect(refused).toMatchObject({ code: 4, out: '' });
    expect(JSON.parse(refused.err)).toMatchObject({
      error: {
        code: 'UNAUTHENTICATED',
        hint: expect.stringMatching(/^(its token is in \/|give the token that)/),
      },
    });
    const byEnvironment = await agentctl(['session', 'list'], '', { AGENTCTL_AUTH_TOKEN: 'wrong' });
    expect(byEnvironment.code).toBe(4);
  });

  it('[26] [67] follows events over a kill and a restart of agentd, each once and in order', async () => {
    const id = await session();
    const go = join(box.root, 'go');
    const child = begin(['events', 'tail', id, '--cursor', '0', '--follow']);
    const said = { out: '', err: '' };
    child.stdout!.on('data', (chunk) => (said.out += String(chunk)));
    child.stderr!.on('data', (chunk) => (said.err += String(chunk)));
    const before = await field('run.id', 'send', id, `until ${go}`);
    await until('the first word', () => said.out.includes('"waiting"'));

    process.kill(Number(await field('pid', 'daemon', 'status')), 'SIGKILL');
    await until('the tail to see it', () => said.err.includes('agentd is away'));
    const dead = await agentctl(['daemon', 'status']);
    expect(dead).toMatchObject({ code: 3, out: '' });
    expect(dead.err).toContain('stale');
    writeFileSync(go, '');
    expect(await json(...start)).toMatchObject({ started: true, url: env['AGENTCTL_URL'] });
    const again = await agentctl(['--format', 'json', ...start]);
    expect(again).toMatchObject({ code: 0, err: expect.stringContaining('stop first for other flags') });
    expect(JSON.parse(again.out)).toMatchObject({ started: false, already_running: true });

    expect((await agentctl(['run', 'wait', before])).code).toBe(0);
    const after = await field('run.id', 'send', id, 'say again');
    expect(await field('run.result_text', 'run', 'wait', after)).toBe('I say again');
    const all = await json<{ events: Event[]; has_more: boolean }>('events', 'list', id, '--limit', '1000');
    expect(all.has_more).toBe(false);
    const seen = () =>
      said.out
        .split('\n')
        .slice(0, -1)
        .map((line) => (JSON.parse(line) as Event).cursor);
    await until('all events', () => seen().length >= all.events.length);
    expect(seen()).toEqual(all.events.map(({ cursor }) => cursor));
    const end = once(child, 'exit');
    child.kill('SIGINT');
    expect((await end)[0]).toBe(0);
  });

  it('ends by itself when nothing runs any more', async () => {
    const id = await session();
    await field('run.id', 'send', id, 'say last');
    const { code, out } = await agentctl(['events', 'tail', id, '--cursor', '0', '--until-idle']);
    expect(code).toBe(0);
    expect(out).toContain('"run.succeeded"');
  });

  it('stops agentd, and is told then that there is none', async () => {
    expect(await json('daemon', 'stop')).toMatchObject({ stopped: true, was_running: true });
    const away = await agentctl(['daemon', 'status']);
    expect(away).toMatchObject({ code: 3, out: '' });
    expect(away.err).not.toContain('stale');
    expect(await json('daemon', 'stop')).toMatchObject({ stopped: false, was_running: false });
    expect((await agentctl(['daemon', 'logs', '--lines', '5'])).out).toContain(`at ${env['AGENTCTL_URL']} `);
  });
});
