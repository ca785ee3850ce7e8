import Database from 'better-sqlite3';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Preflight } from '../../../src/services/gateway/preflight/preflight.js';
import { MIGRATIONS } from '../../../src/store/migrations/index.js';
import { compiledRoot } from '../../support/compiled.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

interface Said {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

let box: Sandbox;
let root: string;
let work: string;
let bin: string;
let env: Record<string, string>;

async function run(program: string, args: readonly string[]): Promise<Said> {
  const child = spawn(process.execPath, [join(root, 'bin', program), ...args], { cwd: work, env });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (said.out += String(chunk)));
  child.stderr.on('data', (chunk) => (said.err += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, ...said };
}

const agentctl = (...args: string[]) => run('agentctl.cjs', args);
const look = (...flags: string[]) => agentctl('daemon', 'preflight', '--port', '0', ...flags);

async function found(...flags: string[]): Promise<Preflight & { code: number | null }> {
  const { code, out, err } = await agentctl('--format', 'json', 'daemon', 'preflight', ...flags);
  expect(err).toBe('');
  return { code, ...(JSON.parse(out) as Preflight) };
}

const states = ({ checks }: Preflight) => Object.fromEntries(checks.map(({ name, state }) => [name, state]));
const said = ({ checks }: Preflight, of: string) => checks.find(({ name }) => name === of)?.found;

/** Every file with what is in it and when it was written. */
function everything(): string[] {
  const names = readdirSync(box.root, { recursive: true, withFileTypes: true });
  return names.map((entry) => {
    const path = join(entry.parentPath, entry.name);
    const { mtimeMs, mode } = statSync(path);
    const content = entry.isFile() ? readFileSync(path).toString('base64') : '';
    return `${path} ${mode} ${path === box.temp ? '' : mtimeMs} ${content}`;
  });
}

function installCodex(): void {
  writeFileSync(join(bin, 'codex'), '#!/bin/sh\necho "codex-cli 0.171.0"\n', { mode: 0o755 });
}

describe('preflight', { timeout: 180_000 }, () => {
  beforeAll(async () => {
    box = createSandbox();
    root = await compiledRoot();
    work = box.folder('work');
    bin = box.folder('bin');
    env = { ...box.env, PATH: `${bin}:/usr/bin:/bin` };
    mkdirSync(join(box.home, '.codex'));
  }, 180_000);
  afterAll(() => box.close(), 60_000);

  it('[71] reports a missing codex binary with exit 1, and ends with 0 once all is fine; it changes nothing', async () => {
    const before = everything();
    const missing = await look('--default-provider', 'codex');
    expect(missing).toMatchObject({ code: 1, err: '' });
    expect(missing.out).toMatch(
      /^failed +codex +codex is not found on PATH \(the default provider\)\n +→ install/m,
    );
    expect(missing.out).toMatch(/\nnot ready: 1 failed\n$/);
    expect((await run('agentd.cjs', ['--check', '--port', '0', '--default-provider', 'codex'])).code).toBe(1);
    const lacking = await run('agentd.cjs', ['--port', '0', '--default-provider', 'scripted']);
    expect(lacking).toMatchObject({ code: 1, err: expect.stringContaining('scripted needs its script') });
    expect((await look()).out).toMatch(/^failed +agents +none is installed/m);
    expect(everything()).toEqual(before);

    installCodex();
    writeFileSync(join(box.home, '.codex/auth.json'), '{}');
    const fine = await look('--default-provider', 'codex');
    expect(fine.out).toMatch(new RegExp(`^ok +codex +codex-cli 0.171.0 at ${bin}/codex`, 'm'));
    expect(fine).toMatchObject({ code: 0, err: '' });
    const answer = await found('--port', '0', '--default-provider', 'codex');
    expect(answer).toMatchObject({ code: 0, ok: true });
    expect(answer.checks.every(({ state, next_step: next }) => state === 'ok' && next === null)).toBe(true);
    expect((await run('agentd.cjs', ['--check', '--port', '0'])).code).toBe(0);
    expect(readdirSync(work)).toEqual([]);
  });

  it('looks for the login and the profile of an agent without starting it', async () => {
    installCodex();
    rmSync(join(box.home, '.codex/auth.json'), { force: true });
    const profile = ['--port', '0', '--codex-profile', 'work'];
    const absent = await found(...profile);
    expect(absent).toMatchObject({ code: 1, ok: false });
    expect(states(absent)).toMatchObject({
      codex: 'ok',
      'codex login': 'warning',
      'codex profile': 'failed',
    });

    writeFileSync(join(box.home, '.codex/config.toml'), '[profiles.work]\nmodel = "m"\n');
    writeFileSync(join(box.home, '.codex/work.config.toml'), 'model = "m"\n');
    expect(said(await found(...profile), 'codex profile')).toContain('refuses it');

    rmSync(join(box.home, '.codex/config.toml'));
    env['CODEX_API_KEY'] = 'sk-dummy';
    const fine = await found(...profile);
    expect(fine.code).toBe(0);
    expect(states(fine)).toMatchObject({ 'codex login': 'ok', 'codex profile': 'ok' });
    expect(JSON.stringify(fine)).not.toContain('sk-dummy');
    delete env['CODEX_API_KEY'];
  });

  it('names the key of a model that is asked without a program', async () => {
    const flags = ['--port', '0', '--default-provider', 'embedded:groq'];
    const without = await found(...flags, '--agent-option', 'embedded:groq.model=some-model');
    expect(without.code).toBe(1);
    expect(said(without, 'embedded:groq')).toContain('GROQ_API_KEY is not set');
    env['GROQ_API_KEY'] = 'a-key-that-nobody-prints';
    const model = await found(...flags);
    expect(said(model, 'embedded:groq')).toContain('needs its model');
    const all = await found(...flags, '--agent-option', 'embedded:groq.model=some-model');
    expect(said(all, 'embedded:groq')).toContain('its key is in GROQ_API_KEY');
    expect(JSON.stringify(all)).not.toContain('a-key-that');
    delete env['GROQ_API_KEY'];
  });

  it('never says to close a folder that was named as the database', async () => {
    const checked = await found('--port', '0', '--db', box.temp);
    expect(said(checked, 'permissions')).toBe(`${box.temp} is a folder, not a database`);
    expect(JSON.stringify(checked)).not.toContain('chmod');
  });

  it('names the setting that an agent cannot be started without', async () => {
    const checked = await found('--port', '0', '--default-provider', 'scripted');
    expect(checked.code).toBe(1);
    expect(said(checked, 'scripted')).toContain('scripted needs its script');
    const { next_step } = checked.checks.find(({ name }) => name === 'scripted')!;
    expect(next_step).toContain('--agent-option scripted.script=FILE');
  });

  it('says what would happen to a database of another version, and leaves it as it is', async () => {
    installCodex();
    const path = join(box.folder('old'), 'gateway.db');
    const database = new Database(path);
    database.exec('CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT');
    for (const { sql, version, name } of MIGRATIONS.slice(0, -1)) {
      database.exec(sql);
      database.prepare('INSERT INTO migrations VALUES (?, ?)').run(version, name);
    }
    database.close();
    const newest = MIGRATIONS.at(-1)!.version;
    const before = everything();
    const older = await found('--port', '0', '--db', path);
    expect(said(older, 'database')).toContain(`schema ${newest - 1}, becomes ${newest}`);
    expect(older.code).toBe(0);
    expect(everything()).toEqual(before);

    const newer = new Database(path);
    newer.prepare('INSERT INTO migrations VALUES (999, ?)').run('of the future');
    newer.close();
    const refused = await found('--port', '0', '--db', path);
    expect(refused).toMatchObject({ code: 1, ok: false });
    expect(said(refused, 'database')).toContain('newer version (schema 999');
  });

  it('tells its own daemon from others on the port, and one that died from one that runs', async () => {
    installCodex();
    const start = ['--format', 'json', 'daemon', 'start', '--default-provider', 'codex'];
    const { out } = await agentctl(...start, '--port', '0');
    const { port, pid } = JSON.parse(out) as { port: number; pid: number };
    const here = ['--port', String(port), '--default-provider', 'codex'];
    const own = await found(...here);
    expect(own).toMatchObject({ code: 0, ok: true });
    expect(said(own, 'port')).toContain(`held by the agentd of this database (process ${pid})`);
    expect(said(own, 'database lock')).toBe(`held by the agentd that runs (process ${pid})`);

    expect(states(await found(...here, '--db', join(box.root, 'other.db')))).toMatchObject({
      port: 'failed',
    });
    const elsewhere = await found('--port', '0', '--default-provider', 'codex');
    expect(elsewhere).toMatchObject({ code: 1 });
    expect(said(elsewhere, 'database lock')).toContain(`another agentd that runs (process ${pid})`);

    env['AGENTCTL_URL'] = `http://127.0.0.1:${port}`;
    const created = await agentctl('--field', 'session.id', 'session', 'create');
    await agentctl('message', 'send', created.out.trim(), 'hello', '--executor', 'external');
    process.kill(pid, 'SIGKILL');
    await expect.poll(() => box.processes().some((one) => one.pid === pid)).toBe(false);
    const left = await found(...here);
    expect(left).toMatchObject({ code: 0 });
    expect(said(left, 'database lock')).toContain(`left by an agentd that died (process ${pid})`);

    rmSync(join(bin, 'codex'));
    const { checks } = await found('--port', String(port));
    expect(checks.find(({ name }) => name === 'codex')).toMatchObject({
      state: 'failed',
      found: `codex is not found on PATH (session ${created.out.trim()} has work for it)`,
    });
    delete env['AGENTCTL_URL'];
  });

  it('names what is on the port where it is no daemon of ours', async () => {
    installCodex();
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const taken = await found('--port', String(port));
    expect(taken.code).toBe(1);
    expect(said(taken, 'port')).toBe(`127.0.0.1:${port} is taken by another program`);
    server.close();
  });
});
