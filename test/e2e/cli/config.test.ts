import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CliRig, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

const file = () => join(rig.paths.config, 'config.toml');
const config = (...args: string[]) => rig.run(['config', ...args]);

describe('agentorchestr config', () => {
  it('sets a value in one’s own private file, and tells it again with its place and what it overrode', async () => {
    rig.file('state/config.toml', '# mine\n[limits] # here\nmax_workers = 2 # few\n');
    const set = await config('set', 'limits.max_workers', '4');
    expect(set).toEqual({ code: 0, stdout: `limits.max_workers = 4   (${file()})\n`, stderr: '' });
    expect(readFileSync(file(), 'utf8')).toBe('# mine\n[limits] # here\nmax_workers = 4 # few\n');
    expect(statSync(file()).mode & 0o777).toBe(0o600);

    expect(await config('set', 'limits.max_workers', '3', '--project')).toMatchObject({ code: 0 });
    expect(readFileSync(join(rig.repo.path, '.agentorchestr/config.toml'), 'utf8')).toBe(
      '[limits]\nmax_workers = 3\n',
    );
    expect((await config('get', 'limits.max_workers')).stdout).toBe('3\n');
    const explained = await rig.run(
      ['config', 'explain', 'limits.max_workers', '--max-workers', '6', '--json'],
      {
        env: { AGENTORCHESTR_MAX_WORKERS: '5' },
      },
    );
    expect(JSON.parse(explained.stdout)).toEqual({
      settings: [
        expect.objectContaining({
          ...{ key: 'limits.max_workers', value: 6, from: 'flag', where: '--max-workers' },
          overrode: [
            { value: 5, from: 'environment', where: 'AGENTORCHESTR_MAX_WORKERS' },
            { value: 3, from: 'project', where: `${join(rig.repo.path, '.agentorchestr/config.toml')}:2` },
            { value: 4, from: 'user', where: `${file()}:3` },
            { value: 8, from: 'default', where: null },
          ],
        }),
      ],
    });
    expect((await config('explain', 'limits.max_workers')).stdout).toMatch(
      /^limits\.max_workers = 3\n {2}from .*config\.toml:2\n {2}overrode {2}4 .*\n {2}overrode {2}8 {3}\(built in\)\n/,
    );
    expect((await config()).stdout).toBe((await config('list')).stdout);
    expect(JSON.parse((await config('list', '--json')).stdout)).toHaveProperty('settings.0.key', 'lead');
  });

  it('lists and switches, and what is not set', async () => {
    await config('set', 'agents', 'scripted, claude');
    await config('set', 'bypass', 'false');
    expect(readFileSync(file(), 'utf8')).toBe('agents = ["scripted", "claude"]\nbypass = false\n');
    expect((await config('get', 'agents')).stdout).toBe('scripted\nclaude\n');
    expect(JSON.parse((await config('get', 'lead', '--json')).stdout)).toEqual({ key: 'lead', value: null });
    expect(await config('get', 'lead')).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('unset takes a key out of one file and says what holds now; a wrong key can go too', async () => {
    rig.file('state/config.toml', 'lead = "one" # mine\n# kept\n');
    rig.repo.write('.agentorchestr/config.toml', 'lead = "two"\nlead_may_answer = true\nledd = "x"\n');
    for (const key of ['ledd', 'lead_may_answer'])
      expect(await config('unset', key, '--project')).toMatchObject({ code: 0 });
    expect((await config('unset', 'lead', '--project')).stdout).toMatch(
      /^lead is not set any more {3}\(.*\.agentorchestr\/config\.toml\)\nnow "one" {3}.*state\/config\.toml:1/,
    );
    expect(JSON.parse((await config('unset', 'lead', '--json')).stdout)).toEqual({
      ...{ key: 'lead', was_set: true, file: file() },
    });
    expect(readFileSync(file(), 'utf8')).toBe('# kept\n');
    expect((await config('unset', 'lead')).stdout).toMatch(/^lead was not set .*\nnow /);
    expect(await config('unset', 'leda')).toMatchObject({
      code: 64,
      stderr: expect.stringContaining('did you mean lead?') as string,
    });
  });

  it.each([
    [['lst'], 'config has no "lst"', 'did you mean: agentorchestr config list'],
    [['get'], 'config get needs a key', 'keys are: lead'],
    [['get', 'leda'], 'unknown key "leda"', 'did you mean lead?'],
    [['set', 'lead'], 'config set lead needs a value', 'it takes the name of an agent'],
    [['set', 'lead', 'scritped'], 'no agent "scritped"', 'did you mean scripted?'],
    [['set', 'agents', 'scripted,who'], 'no agent "who"', 'agents are: '],
    [['unset', 'stal_s'], 'unknown key "stal_s"', 'did you mean limits.stall_s?'],
    [['set', 'agents', 'one', 'two'], 'unexpected argument "two"', ''],
    [['set', 'fetch', 'maybe'], '"fetch" takes true or false (got "maybe")', 'config list'],
    [
      ['set', 'bypass', 'true', '--project'],
      '"bypass" is not for a project to set',
      'agentorchestr config set bypass',
    ],
    [['set', 'agent_options.scripted.pase', '1'], 'scripted has no option "pase"', 'did you mean pace?'],
  ])('refuses %j and changes nothing', async (args, problem, hint) => {
    const { code, stderr } = await config(...args);
    expect(code).toBe(64);
    expect(stderr).toContain(problem);
    expect(stderr).toContain(hint);
    expect(existsSync(file())).toBe(false);
    expect(existsSync(join(rig.repo.path, '.agentorchestr/config.toml'))).toBe(false);
  });
});

it('what is set holds for a session that begins, and a project that would grant itself something begins none', async () => {
  await config('set', 'limits.total_workers', '1');
  await config('set', 'bypass', 'false');
  const flags = ['--goal', 'x', '--yes', '--no-attach', ...rig.playing(SILENT_LEAD)];
  const running = rig.start(flags);
  await running.says(/session [0-9a-f]{8} runs/);
  expect(running.stderr()).toContain(`settings  bypass = false`);
  expect(running.stderr()).toContain('permission prompts stay on for agents');
  const [sessionId = ''] = rig.sessionIds();
  expect(rig.look((store) => store.session(sessionId)?.options['plan'])).toMatchObject({
    bypass_permissions: false,
    limits: { max_workers: 8, total_workers: 1 },
  });
  const spawn = (task: string) =>
    rig.run(['spawn-worker', '--task', task, '--perspective', 'implementer', '--session', sessionId]);
  expect((await spawn('one')).code).toBe(0);
  expect((await spawn('two')).stderr).toContain('limit');

  rig.repo.write('.agentorchestr/config.toml', 'lead_may_answer = true\n');
  const refused = await rig.run(flags);
  expect(refused.code).toBe(64);
  expect(refused.stderr).toContain(
    '.agentorchestr/config.toml:1: "lead_may_answer" is not for a project to set',
  );
  expect(rig.sessionIds()).toEqual([sessionId]);
});
