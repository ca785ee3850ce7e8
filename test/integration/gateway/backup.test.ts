import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { compiledRoot } from '../../support/compiled.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

const SCRIPT = `
name: backup
workers:
  - contains: hello
    steps: [{ say: "hello too" }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
`;
let box: Sandbox;
let root: string;
let work: string;
const env: Record<string, string> = {};

async function agentctl(...args: string[]) {
  const program = join(root, 'bin/agentctl.cjs');
  const child = spawn(process.execPath, [program, ...args], { cwd: work, env: { ...box.env, ...env } });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (said.out += String(chunk)));
  child.stderr.on('data', (chunk) => (said.err += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

async function field(path: string, ...args: string[]): Promise<string> {
  const { code, out, err } = await agentctl('--field', path, ...args);
  expect({ args, code, err }).toEqual({ args, code: 0, err: '' });
  return out.trimEnd();
}

const start = (port: string) =>
  field(
    'port',
    ...['daemon', 'start', '--port', port, '--default-provider', 'scripted', '--grace', '2'],
    ...['--agent-option', `scripted.script=${join(box.root, 'script.yaml')}`],
  );

beforeAll(async () => {
  box = createSandbox();
  root = await compiledRoot();
  work = box.folder('work');
  writeFileSync(join(box.root, 'script.yaml'), SCRIPT);
}, 180_000);
afterAll(async () => {
  await agentctl('daemon', 'stop');
  await box.close();
}, 90_000);

it(
  'a backup of a daemon that works is taken, refuses to replace one, and is restored',
  { timeout: 180_000 },
  async () => {
    const port = await start('0');
    env['AGENTCTL_URL'] = `http://127.0.0.1:${port}`;
    const session = await field('session.id', 'session', 'create');
    const said = await field('run.id', 'message', 'send', session, 'hello');
    await field('run.state', 'run', 'wait', said);
    const other = await field('session.id', 'session', 'create');
    const runs = await field('run.id', 'message', 'send', other, `until ${box.root}/go`);
    const running = async () => field('run.state', 'run', 'get', runs);
    await expect.poll(running, { timeout: 60_000 }).toBe('running');

    const head = Number(await field('head', 'daemon', 'backup', 'copy.db'));
    expect(head).toBeGreaterThan(5);
    expect(await agentctl('daemon', 'backup', 'copy.db')).toMatchObject({ code: 1, out: '' });
    expect(await running()).toBe('running');
    writeFileSync(join(box.root, 'go'), '');
    expect(await field('run.result_text', 'run', 'wait', runs)).toBe('saw it');
    const late = await field('session.id', 'session', 'create');

    await agentctl('daemon', 'stop');
    const database = join(work, '.data/agent-orchestrator.db');
    renameSync(database, join(work, 'aside.db'));
    copyFileSync(join(work, 'copy.db'), database);
    await start(port);
    expect(await field('run.result_text', 'run', 'get', said)).toBe('hello too');
    expect((await agentctl('session', 'get', late)).code).toBe(1);
    // Its process ended after the copy was taken; what it wrote is still there.
    expect(await field('run.state', 'run', 'wait', runs)).toMatch(/succeeded|interrupted/);
    expect((await agentctl('daemon', 'stop')).code).toBe(0);
    expect(Number(await field('head', 'daemon', 'backup', 'stopped.db'))).toBeGreaterThan(head);
  },
);
