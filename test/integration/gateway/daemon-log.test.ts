import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { appendFileSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiledRoot } from '../../support/compiled.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

interface Ready {
  readonly url: string;
  readonly pid: number;
  readonly port: number;
  readonly log: string;
}

const FLAGS = ['--insecure-no-auth', '--log-level', 'debug', '--log-max-bytes', '3000', '--log-keep', '4'];
let box: Sandbox;
let root: string;
const env: Record<string, string> = {};

function begin(args: readonly string[]) {
  const program = join(root, 'bin/agentctl.cjs');
  return spawn(process.execPath, [program, ...args], { cwd: box.root, env: { ...box.env, ...env } });
}

async function agentctl(...args: string[]): Promise<string> {
  const child = begin(args);
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (said.out += String(chunk)));
  child.stderr.on('data', (chunk) => (said.err += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  expect({ args, code, err: said.err }).toEqual({ args, code: 0, err: '' });
  return said.out;
}

async function start(port: number): Promise<Ready> {
  const flags = ['--port', String(port), ...FLAGS];
  return JSON.parse(await agentctl('--format', 'json', 'daemon', 'start', ...flags)) as Ready;
}

async function gone(pid: number): Promise<void> {
  process.kill(pid, 'SIGKILL');
  await expect.poll(() => box.processes().some((one) => one.pid === pid), { timeout: 30_000 }).toBe(false);
}

beforeAll(async () => {
  box = createSandbox();
  root = await compiledRoot();
}, 180_000);
afterAll(async () => {
  await agentctl('daemon', 'stop');
  await box.close();
}, 60_000);

it(
  'the log of a daemon is put aside by size, followed over that and over a crash, and its last words are kept',
  { timeout: 180_000 },
  async () => {
    const first = await start(0);
    env['AGENTCTL_URL'] = first.url;
    const follower = begin(['daemon', 'logs', '--lines', '1', '--follow']);
    box.onClose(() => void follower.kill('SIGKILL'));
    let followed = '';
    follower.stdout.on('data', (chunk) => (followed += String(chunk)));
    const lines = () => followed.split('\n').slice(0, -1);
    await expect.poll(() => lines().length, { timeout: 30_000 }).toBe(1);
    expect(lines()[0]).toContain(`at ${first.url} (process ${first.pid}`);

    const asked = Array.from({ length: 150 }, (_, index) => `/nowhere-${index}`);
    for (const path of asked) await (await fetch(`${first.url}${path}`)).text();
    await expect.poll(() => lines().length, { timeout: 30_000 }).toBeGreaterThanOrEqual(151);
    expect(
      lines()
        .slice(1, 151)
        .map((line) => (JSON.parse(line) as { time: string }).time),
    ).toHaveLength(150);
    const files = readdirSync(dirname(first.log)).filter((name) => name.includes('.log'));
    expect(files).toHaveLength(5);
    expect(statSync(first.log).size).toBeLessThanOrEqual(3_000);
    expect((await agentctl('daemon', 'logs', '--lines', '40')).trimEnd().split('\n')).toEqual(
      lines().slice(-40),
    );

    await gone(first.pid);
    const lastWords = first.log.replace(/log$/, 'err');
    appendFileSync(lastWords, 'out of memory, said the runtime\n');
    expect(await agentctl('daemon', 'logs', '--lines', '1')).toBe('out of memory, said the runtime\n');
    const second = await start(first.port);
    expect(second.log).toBe(first.log);
    await expect.poll(() => followed, { timeout: 30_000 }).toContain(`(process ${second.pid}`);
    expect(lines().slice(-2)[0]).toBe('out of memory, said the runtime');
    expect(readFileSync(lastWords, 'utf8')).toBe('');
    follower.kill('SIGINT');
    expect(await once(follower, 'exit')).toEqual([0, null]);
  },
);
