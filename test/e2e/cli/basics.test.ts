import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliRig, DONE_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

const version = () =>
  (JSON.parse(readFileSync(join(rig.root, 'package.json'), 'utf8')) as { version: string }).version;

describe('the launcher', () => {
  it('[1] prints its version in a folder that cannot be written, with no agents, and touches nothing', async () => {
    const folder = rig.world.sandbox.folder('sealed');
    chmodSync(folder, 0o500);
    const { code, stdout } = await rig.run(['--version'], { cwd: folder, env: { PATH: '/nowhere' } });
    expect({ code, stdout }).toEqual({ code: 0, stdout: `agentorchestr ${version()}\n` });
    expect(existsSync(rig.paths.database)).toBe(false);
  });

  it('[1] answers --version even where nothing was built or installed', async () => {
    const copy = unbuiltCopy();
    const { code, stdout } = await rig.run(['--version'], { env: {} });
    expect(code).toBe(0);
    expect((await runFrom(copy, ['--version'])).stdout).toBe(stdout);
  });

  it('serve and gateway are agentd and agentctl', async () => {
    expect(await rig.run(['serve', '--version'])).toMatchObject({ code: 0, stdout: `agentd ${version()}\n` });
    const { code, stderr } = await rig.run(['gateway', 'run', 'get', 'x', '--url', 'http://127.0.0.1:1']);
    expect(code).toBe(3);
    expect(stderr).toContain('no agentd answers at http://127.0.0.1:1');
  });

  it('says how to build when it is not built', async () => {
    const { code, stderr, stdout } = await runFrom(unbuiltCopy(), ['--detect']);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toMatch(/^error: this copy of agentorchestr is not built\nhint: run: npm run build/);
  });

  it('says how to install when a package is missing', async () => {
    const copy = unbuiltCopy();
    cpSync(join(rig.root, 'dist'), join(copy, 'dist'), { recursive: true });
    const { code, stderr } = await runFrom(copy, ['--detect']);
    expect(code).toBe(1);
    expect(stderr).toMatch(/^error: a package is missing: .*\nhint: run: npm ci\n$/);
  });

  function unbuiltCopy(): string {
    const copy = rig.world.sandbox.folder('copy');
    for (const name of ['package.json', 'bin'])
      cpSync(join(rig.root, name), join(copy, name), { recursive: true });
    return copy;
  }

  const runFrom = (copy: string, args: string[]) =>
    rig.run(args, { launcher: join(copy, 'bin/agentorchestr.cjs') });
});

describe('--detect', () => {
  it('[2] lists each agent on PATH with name, type and version', async () => {
    rig.fakeProgram('goose', 'echo "goose 4.5.6"');
    rig.fakeProgram('aider', 'echo "aider 0.9"');
    const { code, stdout } = await rig.run(['--detect'], { env: { PATH: onlyOurs() } });
    expect(code).toBe(0);
    expect(stdout).toMatch(/goose +cli +goose 4\.5\.6 +yes +yes/);
    expect(stdout).toMatch(/aider +cli +aider 0\.9 +yes +no/);
  });

  it('[2] says none when there is none, and still exits 0', async () => {
    const { code, stdout } = await rig.run(['--detect'], { env: { PATH: onlyOurs() } });
    expect(code).toBe(0);
    expect(stdout).toContain('none found on PATH');
    expect(stdout).toContain('scripted (--agents scripted)');
    expect(stdout).toMatch(/looked for: claude, .*codex/);
    expect(stdout).toContain('install Claude Code (claude) or Codex (codex)');
  });

  it('[3] [4] [25] tells which providers have a key without the key, and which parts are there, as JSON alone', async () => {
    const secret = 'gsk-0123456789abcdef';
    const { code, stdout, stderr } = await rig.run(['--detect', '--json'], {
      env: { PATH: onlyOurs(), GROQ_API_KEY: secret, OPENROUTER_API_KEY: '' },
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const found = JSON.parse(stdout) as {
      agents: unknown[];
      providers: { name: string; key_present: boolean }[];
      capabilities: { name: string; present: boolean }[];
    };
    expect(found.agents).toEqual([]);
    expect(found.providers.map(({ name, key_present: present }) => [name, present])).toEqual([
      ['anthropic', false],
      ['cerebras', false],
      ['groq', true],
      ['gemini', false],
      ['openrouter', false],
    ]);
    expect(found.capabilities.map(({ name, present }) => [name, present])).toEqual([
      ['MCP', true],
      ['mDNS', false],
      ['web search', false],
      ['vectors', false],
    ]);
    expect(stdout).not.toContain(secret);
  });
});

describe('--list-sessions', () => {
  it('[21] [25] is friendly about an empty store, makes no file, and prints an empty list as JSON', async () => {
    const words = await rig.run(['--list-sessions']);
    expect(words).toEqual({
      code: 0,
      stdout: 'No sessions yet. Start one: agentorchestr --goal "…"\n',
      stderr: '',
    });
    expect(JSON.parse((await rig.run(['--list-sessions', '--json'])).stdout)).toEqual({ sessions: [] });
    expect(existsSync(rig.paths.database)).toBe(false);
  });
});

describe('usage', () => {
  it.each([
    { args: [], code: 64, error: 'no goal given' },
    { args: ['--interactive'], code: 64, error: '--interactive needs a terminal' },
    {
      args: ['--goal', 'x', '--project', 'a.txt'],
      code: 1,
      error: 'a.txt cannot be used as a project: it is not a folder',
    },
    { args: ['--goal', 'x'], code: 1, error: 'no coding agent was found on PATH' },
    { args: ['status', 'ffffffff'], code: 1, error: 'no session "ffffffff"' },
    { args: ['--resume', 'ffffffff'], code: 1, error: 'no session "ffffffff"' },
  ])(
    '[14] [15] [22] [24] $args exits $code with "$error" on stderr and a hint',
    async ({ args, code, error }) => {
      const result = await rig.run(args, { env: { PATH: onlyOurs('git') } });
      expect({ code: result.code, stdout: result.stdout }).toEqual({ code, stdout: '' });
      expect(result.stderr).toMatch(/^error: .*\nhint: .+\n$/s);
      expect(result.stderr).toContain(error);
      expect(existsSync(rig.paths.database)).toBe(false);
    },
  );

  it('prints errors as an object too when asked for JSON', async () => {
    const { code, stdout, stderr } = await rig.run(['--goal', 'x', '--json', '--max-workers', '0']);
    expect(code).toBe(64);
    expect(JSON.parse(stdout)).toMatchObject({
      error: { code: 'USAGE', retryable: false, hint: '--max-workers 4' },
    });
    expect(stderr).toContain('error: --max-workers takes a whole number from 1 to 64 (got "0")');
  });
});

describe('folders', () => {
  it('[78] XDG variables move everything, and an old ~/.agentorchestr goes on being used where it is', async () => {
    const { home } = rig.world.sandbox;
    const env = { AGENTORCHESTR_HOME: undefined, XDG_DATA_HOME: join(home, 'elsewhere') };
    const args = [
      '--goal',
      'x',
      '--yes',
      '--no-attach',
      '--kill-tmux',
      '--verify',
      'true',
      ...rig.playing(DONE_LEAD),
    ];
    expect((await rig.run(args, { env })).code).toBe(0);
    expect(readdirSync(home).sort()).toEqual(['.gitconfig', 'elsewhere']);
    const moved = readdirSync(join(home, 'elsewhere/agentorchestr'));
    expect(moved).toEqual(expect.arrayContaining(['sessions', 'state.db', 'trust.json', 'worktrees']));

    mkdirSync(join(home, '.agentorchestr'));
    expect((await rig.run(args, { env })).code).toBe(0);
    expect(readdirSync(join(home, '.agentorchestr'))).toEqual(expect.arrayContaining(moved));
    expect(readdirSync(home).sort()).toEqual(['.agentorchestr', '.gitconfig', 'elsewhere']);
  });
});

/** A PATH without the machine's own agents. */
function onlyOurs(...tools: string[]): string {
  const folder = rig.world.sandbox.folder('tools');
  for (const tool of tools)
    if (!existsSync(join(folder, tool))) symlinkSync(`/usr/bin/${tool}`, join(folder, tool));
  return `${join(rig.world.sandbox.root, 'agents-bin')}:${folder}`;
}
