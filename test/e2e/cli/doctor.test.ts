import { chmodSync, existsSync, mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../support/tmux.js';
import { check, listing, type, words } from './doctor-rig.js';
import { CliRig } from './rig.js';

const CLAUDE = 'echo "2.1.332 (Claude Code)"';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
  rig.fakeProgram('claude', CLAUDE);
});
afterEach(() => rig.close());

/** PATH with the test's own programs, `sh` for them, and these of the machine. */
function pathWith(...tools: string[]): string {
  const folder = rig.world.sandbox.folder('tools');
  for (const tool of ['sh', 'cat', 'sleep', 'touch', ...tools])
    if (!existsSync(join(folder, tool))) symlinkSync(`/usr/bin/${tool}`, join(folder, tool));
  return `${join(rig.world.sandbox.root, 'agents-bin')}:${folder}`;
}
const usual = () => ({ PATH: pathWith('git', 'tmux') });

describe('--doctor', () => {
  it('[8] [25] exits 0 where all is well, as one JSON document and nothing else', async () => {
    const found = await check(rig, { env: usual() });
    expect(found.troubles).toEqual([]);
    expect(found.rows.map(({ area, name }) => `${area}: ${name}`)).toEqual([
      'programs: Node.js',
      'programs: git',
      'programs: tmux',
      'programs: tmux control',
      'agents: claude',
      'connections: MCP port',
      'connections: proxies',
      'terminal: locale',
      'terminal: shell',
      'terminal: TERM',
      'storage: data folder',
      'storage: database',
      'storage: disk space',
      'storage: what we keep',
      'storage: permissions',
      'sessions: sessions',
      'sessions: tmux servers',
      'sessions: worktrees',
    ]);
    expect(found.of('Node.js')[0]).toMatchObject({ version: process.versions.node, path: process.execPath });
    expect(found.of('claude')[0]).toMatchObject({
      version: '2.1.332 (Claude Code)',
      path: join(rig.world.sandbox.root, 'agents-bin/claude'),
    });
  });

  it('[8] [9] says the same in words, with no row about keys that nothing uses', async () => {
    const { code, stdout, stderr } = await words(rig, usual());
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^programs\n {2}ok {7}Node\.js {10}\d/);
    expect(stdout).toMatch(
      /\nready to work: all is well\nLogins were not checked\. Nothing was changed\.\n$/,
    );
    expect(stdout).not.toMatch(/_API_KEY/);
  });

  it('refuses to be mixed with another action', async () => {
    const { code, stderr } = await rig.run(['--doctor', '--detect']);
    expect(code).toBe(64);
    expect(stderr).toContain('--detect and --doctor cannot be used together');
  });

  it('changes nothing: every file, mode and time is as before, and an empty home stays empty', async () => {
    const home = rig.world.sandbox.folder('fresh');
    const env = { ...usual(), HOME: home, AGENTORCHESTR_HOME: undefined };
    const loose = ['tmp', 's'];
    const before = listing(rig.world.sandbox.root, loose);
    expect((await check(rig, { env })).healthy).toBe(true);
    expect(listing(rig.world.sandbox.root, loose)).toEqual(before);
    expect(listing(home)).toHaveLength(1);
  });
});

describe('--doctor tells what is fatal, with its fix, and exits 1', () => {
  it('[8] no tmux', async () => {
    const found = await check(rig, { env: { PATH: pathWith('git') } });
    expect(found.of('tmux')).toMatchObject([{ state: 'failed', found: 'not found on PATH' }]);
    expect(found.of('tmux')[0]?.fix).toContain('apt-get install tmux');
    expect(found.of('tmux control')).toEqual([]);
    expect(found.troubles).toHaveLength(1);
  });

  it('no git', async () => {
    const found = await check(rig, { env: { PATH: pathWith('tmux') } });
    expect(found.of('git')).toMatchObject([{ state: 'failed', found: 'not found on PATH' }]);
  });

  it('a git and a tmux that are too old', async () => {
    rig.fakeProgram('git', 'echo "git version 2.17.1"');
    rig.fakeProgram('tmux', 'echo "tmux 2.6"');
    const found = await check(rig, { env: usual() });
    const bin = join(rig.world.sandbox.root, 'agents-bin');
    expect(found.of('git')).toMatchObject([
      {
        state: 'failed',
        version: '2.17.1',
        path: join(bin, 'git'),
        found: `2.17.1 at ${bin}/git is too old`,
      },
    ]);
    expect(found.of('tmux')).toMatchObject([{ state: 'failed', version: '2.6', path: join(bin, 'tmux') }]);
    expect(found.of('tmux control')).toMatchObject([{ state: 'failed' }]);
  });

  it('a tmux that cannot start a server', async () => {
    rig.fakeProgram(
      'tmux',
      'case "$*" in -V) echo "tmux 3.4";; *) echo "no server for you" >&2; exit 1;; esac',
    );
    const found = await check(rig, { env: usual() });
    expect(found.troubles).toEqual([
      expect.stringMatching(/^failed tmux new-session failed: no server for you/),
    ]);
  });

  it('a tmux whose server does not stay', async () => {
    // It takes the first command, and is gone.
    const script = `case "$*" in -V) echo "tmux 3.4";; *) printf '%%%%begin 1 1 0\\n%%%%end 1 1 0\\n';; esac`;
    rig.fakeProgram('tmux', script);
    const found = await check(rig, { env: usual() });
    expect(found.troubles).toEqual(['failed tmux new-session failed: control client ended (0)']);
  });

  it('[8] no agent at all, and none that can be started', async () => {
    const env = { PATH: pathWith('git', 'tmux').replace(/^[^:]*:/, '') };
    const none = await check(rig, { env });
    expect(none.of('agents')).toMatchObject([{ state: 'failed', found: 'none found on PATH' }]);
    expect(none.of('agents')[0]?.fix).toMatch(/^install .*log in once/);

    const bin = rig.world.sandbox.folder('others');
    writeFileSync(join(bin, 'aider'), '#!/bin/sh\necho "aider 0.86"\n');
    chmodSync(join(bin, 'aider'), 0o755);
    const detected = await check(rig, { env: { PATH: `${bin}:${env.PATH}` } });
    expect(detected.of('aider')).toMatchObject([
      { state: 'ok', found: `aider 0.86 at ${bin}/aider; detected only, not started by this version` },
    ]);
    expect(detected.troubles).toEqual(['failed none of those found can be started by this version']);
  });

  it('a data folder that cannot be made, or is something else', async () => {
    const file = rig.file('file', 'not a folder');
    const below = await check(rig, { env: { ...usual(), AGENTORCHESTR_HOME: join(file, 'data') } });
    expect(below.of('data folder')).toMatchObject([
      { state: 'failed', found: `${file}/data cannot be made: ${file} is not a folder` },
    ]);
    const itself = await check(rig, { env: { ...usual(), AGENTORCHESTR_HOME: file } });
    expect(itself.of('data folder')).toMatchObject([{ state: 'failed', found: `${file} is not a folder` }]);
    const link = join(rig.world.sandbox.root, 'link');
    symlinkSync(rig.world.sandbox.folder('target'), link);
    const linked = await check(rig, { env: { ...usual(), AGENTORCHESTR_HOME: link } });
    expect(linked.of('data folder')).toMatchObject([{ state: 'failed', path: link }]);
  });

  it('a database that is damaged or of another program, and does not blame what rests on it', async () => {
    writeFileSync(rig.paths.database, `SQLite format 3\0${'x'.repeat(8_000)}`, { mode: 0o600 });
    const found = await check(rig, { env: usual() });
    expect(found.of('database')).toMatchObject([{ state: 'failed', path: rig.paths.database }]);
    expect(found.of('database')[0]?.found).toContain(rig.paths.database);
    expect(found.of('database')[0]?.fix).toMatch(/^move it/);
    expect(found.of('sessions')).toMatchObject([{ state: 'unknown', found: 'the database cannot be read' }]);

    truncateSync(rig.paths.database, 0);
    const empty = await check(rig, { env: usual() });
    expect(empty.of('database')).toMatchObject([{ state: 'ok' }]);
  });
});

describe('--doctor warns, and exits 0', () => {
  it('of a locale without UTF-8 and of a proxy for our own port, without showing its password', async () => {
    const broken = { LANG: 'C', HTTP_PROXY: 'http://user:secret@proxy:1' };
    const found = await check(rig, { env: { ...usual(), ...broken } });
    expect(found.of('locale')).toMatchObject([{ state: 'warning', fix: 'export LANG=C.UTF-8' }]);
    expect(found.of('proxies')).toMatchObject([
      { state: 'warning', fix: 'export NO_PROXY=127.0.0.1,localhost no_proxy=127.0.0.1,localhost' },
    ]);
    expect(found.troubles).toHaveLength(2);
    expect(JSON.stringify(found.rows)).not.toContain('secret');
  });

  it('of a git that does not know who commits', async () => {
    const home = rig.world.sandbox.folder('nobody');
    writeFileSync(join(home, '.gitconfig'), '[user]\n\tuseConfigOnly = true\n');
    const found = await check(rig, { env: { ...usual(), HOME: home } });
    expect(found.of('git identity')).toMatchObject([
      { state: 'warning', fix: expect.stringMatching(/^git config --global user\.name/) as string },
    ]);
    expect((await check(rig, { env: usual() })).of('git identity')).toEqual([]);
  });

  it('of an agent newer than its rules, which are then unverified, and of an older one', async () => {
    rig.fakeProgram('claude', 'echo "2.1.400 (Claude Code)"');
    rig.fakeProgram('codex', 'echo "codex-cli 0.90.0"');
    const found = await check(rig, { env: usual() });
    expect(found.of('claude')[0]?.found).toMatch(
      /starts in a pane and without a terminal; its rules are from 2\.1\.332: screen \(unverified version\)$/,
    );
    expect(found.of('codex')[0]?.found).toMatch(/its rules are from 0\.171\.0$/);
    expect(found.rows.filter(({ area }) => area === 'agents').map(({ state }) => state)).toEqual([
      'warning',
      'warning',
    ]);
  });

  it('of files and folders that others may read, until the command that it gives was typed', async () => {
    const { data } = rig.paths;
    mkdirSync(join(data, 'sessions/0a1b2c3d'), { recursive: true });
    for (const name of ['trust.json', 'sessions/0a1b2c3d/secret', 'sessions/0a1b2c3d/control.json'])
      writeFileSync(join(data, name), '{}');
    chmodSync(join(data, 'trust.json'), 0o644);
    chmodSync(join(data, 'sessions/0a1b2c3d/secret'), 0o640);
    chmodSync(join(data, 'sessions/0a1b2c3d/control.json'), 0o600);
    chmodSync(join(data, 'sessions'), 0o700);
    chmodSync(join(data, 'sessions/0a1b2c3d'), 0o750);
    const found = await check(rig, { env: usual() });
    expect(found.of('permissions').map(({ state, fix }) => [state, fix])).toEqual([
      ['warning', `chmod 700 ${data}/sessions/0a1b2c3d`],
      ['warning', `chmod 600 ${data}/trust.json ${data}/sessions/0a1b2c3d/secret`],
    ]);
    expect(found.of('permissions')[1]?.found).toContain('trust.json (644)');
    for (const { fix } of found.of('permissions')) type(rig, fix);
    expect((await check(rig, { env: usual() })).of('permissions')).toMatchObject([{ state: 'ok' }]);
  });
});

describe('--doctor does not hang', () => {
  it('[5] on an agent that does not answer: its row is unknown, the others stand', async () => {
    rig.fakeProgram('codex', 'exec sleep 600');
    const found = await check(rig, { env: usual() });
    expect(found.of('codex')).toMatchObject([
      { state: 'unknown', fix: `${join(rig.world.sandbox.root, 'agents-bin')}/codex --version` },
    ]);
    expect(found.of('claude')).toMatchObject([{ state: 'ok' }]);
    expect(found.code).toBe(0);
  });

  it('and leaves no tmux server where it gave up waiting for one', async () => {
    const mute = 'case "$*" in *-C*) exec /usr/bin/tmux "$@" >/dev/null;; *) exec /usr/bin/tmux "$@";; esac';
    rig.fakeProgram('tmux', mute);
    expect((await check(rig, { env: usual() })).of('tmux control')).toMatchObject([{ state: 'unknown' }]);
  });

  it('when it is interrupted: it leaves nothing and exits 130', async () => {
    rig.fakeProgram('claude', 'touch "$TMPDIR/asked"; exec sleep 600');
    const running = rig.start(['--doctor'], { env: usual() });
    const asked = join(rig.world.sandbox.temp, 'asked');
    await until(() => existsSync(asked), 'the check of the agent');
    rmSync(asked);
    running.child.kill('SIGINT');
    expect(await running.finished).toMatchObject({ code: 130, stdout: '' });
  });

  it('on a git and a tmux that do not answer', async () => {
    rig.fakeProgram('git', 'exec sleep 600');
    rig.fakeProgram('tmux', 'exec sleep 600');
    const found = await check(rig, { env: usual() });
    expect(found.rows.filter(({ state }) => state === 'unknown').map(({ name }) => name)).toEqual([
      'git',
      'tmux',
      'tmux control',
    ]);
    expect(found.of('tmux control')[0]?.found).toBe(
      'starting tmux in control mode did not happen within 4000 ms',
    );
  });
});
