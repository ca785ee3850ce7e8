import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { compiledRoot } from '../../support/compiled.js';

const SCRIPT = `
name: daemon
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
  - contains: hang
    steps: [{ say: hanging }, { silence: true }]
`;

interface Daemon {
  readonly child: ChildProcess;
  readonly url: string;
  readonly token_file: string;
  readonly database: string;
  readonly pid: number;
  readonly port: number;
}

const folder = mkdtempSync(join(tmpdir(), 'ao-agentd-'));
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) await ended(child, 'SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

async function agentd(...flags: string[]): Promise<{ child: ChildProcess; said: () => string }> {
  const work = join(folder, 'work');
  mkdirSync(work, { recursive: true });
  writeFileSync(join(folder, 'script.yaml'), SCRIPT);
  const agent = ['--default-provider', 'scripted', '--agent-option', `scripted.script=${folder}/script.yaml`];
  const program = join(await compiledRoot(), 'bin/agentd.cjs');
  const child = spawn(process.execPath, [program, '--port', '0', '--print-json', ...agent, ...flags], {
    cwd: work,
    env: { PATH: process.env['PATH'], HOME: folder, TMPDIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
  return { child, said: () => text };
}

async function started(...flags: string[]): Promise<Daemon> {
  const { child, said } = await agentd(...flags);
  await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
  if (child.exitCode !== null) throw new Error(`agentd ended: ${said()}`);
  return { child, ...(JSON.parse(said().split('\n')[0] ?? '') as Omit<Daemon, 'child'>) };
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) {
    const exit = once(child, 'exit');
    child.kill(signal);
    await exit;
  }
  return child.exitCode;
}

interface Run {
  readonly id: string;
  readonly state: string;
  readonly result_text: string | null;
}

async function ask({ url, token_file: file }: Daemon, method: string, path: string, body?: unknown) {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${readFileSync(file, 'utf8')}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(90_000),
  });
  return (await response.json()) as { session: { id: string }; run: Run; status: string; events: unknown[] };
}

const session = async (daemon: Daemon) => (await ask(daemon, 'POST', '/sessions')).session.id;
const say = async (daemon: Daemon, to: string, text: string) =>
  (await ask(daemon, 'POST', `/sessions/${to}/messages`, { text })).run.id;
const over = async (daemon: Daemon, run: string) =>
  (await ask(daemon, 'GET', `/runs/${run}/wait?timeout_s=60`)).run;
const word = (daemon: Daemon, of: string) =>
  ask(daemon, 'GET', `/sessions/${of}/events?types=text.completed&wait_s=60`);

it(
  '[1] [10] [11] [12] has one database to itself, loses nothing by a kill, and lets what runs end',
  { timeout: 180_000 },
  async () => {
    const first = await started();
    expect(first.database).toBe(join(folder, 'work/.data/agent-orchestrator.db'));
    expect(statSync(first.token_file).mode & 0o777).toBe(0o600);
    const announced = join(folder, `.local/state/agentorchestr/daemons/127.0.0.1-${first.port}.json`);
    expect(JSON.parse(readFileSync(announced, 'utf8'))).toMatchObject({ pid: first.pid, url: first.url });

    const second = await agentd();
    expect((await once(second.child, 'exit'))[0]).toBe(1);
    expect(second.said()).toContain(`process ${first.pid}`);

    const id = await session(first);
    const running = await say(first, id, `until ${join(folder, 'go')}`);
    const queued = await say(first, id, 'say queued');
    await word(first, id);
    await ended(first.child, 'SIGKILL');
    writeFileSync(join(folder, 'go'), '');

    const next = await started('--grace', '3');
    expect(await over(next, running)).toMatchObject({ state: 'succeeded', result_text: 'saw it' });
    expect(await over(next, queued)).toMatchObject({ state: 'succeeded', result_text: 'I say queued' });

    const [slow, stuck] = [await session(next), await session(next)];
    const ends = await say(next, slow, `until ${join(folder, 'end')}`);
    const hangs = await say(next, stuck, 'hang');
    const waits = await say(next, stuck, 'say later');
    await Promise.all([word(next, slow), word(next, stuck)]);
    next.child.kill('SIGTERM');
    const health = async () => (await ask(next, 'GET', '/health')).status;
    while ((await health()) !== 'draining') await new Promise((resolve) => setTimeout(resolve, 20));
    writeFileSync(join(folder, 'end'), '');
    await once(next.child, 'exit');
    expect(next.child.exitCode).toBe(0);
    expect(existsSync(join(folder, `.local/state/agentorchestr/daemons/127.0.0.1-${next.port}.json`))).toBe(
      false,
    );

    const last = await started();
    expect((await over(last, ends)).state).toBe('succeeded');
    expect((await over(last, hangs)).state).toBe('interrupted');
    expect(await over(last, waits)).toMatchObject({ state: 'succeeded', result_text: 'I say later' });
    expect(await ended(last.child, 'SIGTERM')).toBe(0);
  },
);
