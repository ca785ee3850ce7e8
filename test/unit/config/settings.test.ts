import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { explain, originWords } from '../../../src/config/explain.js';
import { loadLayers, resolveAll, resolveSetting } from '../../../src/config/load.js';
import { SETTINGS } from '../../../src/config/schema.js';
import { valueOfText } from '../../../src/config/values.js';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import { sessionPlanSchema } from '../../../src/services/supervise/plan.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ao-config-'));
});
afterEach(() => rmSync(root, { recursive: true }));

const userFile = () => join(root, 'config/config.toml');
const projectFile = () => join(root, 'project/.agentorchestr/config.toml');

function write(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}

const load = (env: Record<string, string> = {}) =>
  loadLayers({ config: join(root, 'config'), project: join(root, 'project'), env });

async function refused(
  env: Record<string, string> = {},
): Promise<{ message: string; hint: string | undefined }> {
  const error: unknown = await load(env).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof OrchestratorError)) throw new Error(`not refused: ${String(error)}`);
  expect(error.code).toBe('SETTINGS_INVALID');
  return { message: error.message, hint: error.hint };
}

describe('where a value comes from', () => {
  it('user, project, environment, flag: the later wins, and each says where it stands', async () => {
    write(userFile(), '# mine\n\n[limits]\nmax_workers = 3\n');
    write(projectFile(), 'limits.max_workers = 2\n');
    const layers = await load({ AGENTORCHESTR_MAX_WORKERS: ' 4 ' });
    const flag = new Map([
      ['limits.max_workers', { value: 5, origin: { from: 'flag', where: '--max-workers' } as const }],
    ]);
    expect(resolveSetting([...layers, flag], 'limits.max_workers')).toEqual({
      key: 'limits.max_workers',
      value: 5,
      origin: { from: 'flag', where: '--max-workers' },
      overrode: [
        { value: 4, origin: { from: 'environment', where: 'AGENTORCHESTR_MAX_WORKERS' } },
        { value: 2, origin: { from: 'project', where: `${projectFile()}:1` } },
        { value: 3, origin: { from: 'user', where: `${userFile()}:4` } },
        { value: 8, origin: { from: 'default', where: '' } },
      ],
      refused: [],
    });
  });

  it('nothing is set where there is no file and no variable', async () => {
    const layers = await load({ AGENTORCHESTR_LEAD: '  ' });
    for (const setting of SETTINGS)
      expect(resolveSetting(layers, setting.key)).toEqual({
        key: setting.key,
        value: setting.fallback,
        origin: { from: 'default', where: '' },
        overrode: [],
        refused: [],
      });
  });

  it('options of agents are keys too, wherever they are', async () => {
    write(userFile(), '[agent_options.one]\nmodel = "large"\n');
    const [last] = resolveAll(await load()).slice(-1);
    expect(last).toMatchObject({ key: 'agent_options.one.model', value: 'large' });
  });

  it('an older install that has everything in one folder of home is not read twice when home is the project', async () => {
    const config = join(root, 'project/.agentorchestr');
    write(join(config, 'config.toml'), 'bypass = false\n');
    const layers = await loadLayers({ config, project: join(root, 'project'), env: {} });
    expect(resolveSetting(layers, 'bypass').origin).toEqual({
      from: 'user',
      where: `${join(config, 'config.toml')}:1`,
    });
  });

  it('a list in a variable', async () => {
    const layers = await load({
      AGENTORCHESTR_AGENTS: 'one, two,',
      AGENTORCHESTR_VERIFY: 'npm test\nmake, all',
    });
    expect(resolveSetting(layers, 'agents').value).toEqual(['one', 'two']);
    expect(resolveSetting(layers, 'verify').value).toEqual(['npm test', 'make, all']);
  });

  it('is told in words', async () => {
    write(userFile(), 'fetch = true\n');
    const explained = explain(resolveSetting(await load(), 'fetch'));
    expect(explained).toEqual({
      key: 'fetch',
      value: true,
      from: 'user',
      where: `${userFile()}:1`,
      overrode: [{ value: false, from: 'default', where: null }],
      refused: [],
      summary: 'fetch before the base is chosen',
      takes: 'true or false',
      variable: 'AGENTORCHESTR_FETCH',
      flag: '--fetch',
      project_may_set: true,
    });
    expect(originWords(explained, root)).toBe('~/config/config.toml:1');
  });
});

describe('a mistake is told with its place', () => {
  it.each([
    { text: 'a = 1\n', problem: '1: unknown key "a"', hint: 'keys are: lead, agents, headless' },
    { text: '\nleed = "x"\n', problem: '2: unknown key "leed"', hint: 'did you mean lead?' },
    {
      text: 'lead = "x"\n[limits]\n# four\nmax_workrs = 4\n',
      problem: '4: unknown key "limits.max_workrs"',
      hint: 'did you mean limits.max_workers?',
    },
    { text: '[limitz]\n', problem: '1: unknown key "limitz"', hint: 'keys are' },
    {
      text: '"limits.max_workers" = 4\n',
      problem: '1: unknown key "limits.max_workers"',
      hint: 'did you mean',
    },
    {
      text: 'fetch = true\nlimits = { max_workers = 65 }\n',
      problem: '2: "limits.max_workers" takes a whole number from 1 to 64 (got 65)',
      hint: 'config list',
    },
    { text: 'lead = 3\n', problem: '1: "lead" takes the name of an agent (got 3)', hint: 'config list' },
    {
      text: 'agents = []\n',
      problem: '1: "agents" takes a list of names of agents (got [])',
      hint: 'config list',
    },
    { text: 'lead = "a"\nlead = "b"\n', problem: '2: it is not TOML', hint: 'config list' },
    { text: 'lead = "a\n', problem: '1: it is not TOML', hint: 'config list' },
  ])('$text', async ({ text, problem, hint }) => {
    write(userFile(), text);
    const error = await refused();
    expect(error.message).toContain(`${userFile()}:${problem}`);
    expect(error.hint).toContain(hint);
  });

  it('in a variable', async () => {
    expect((await refused({ AGENTORCHESTR_FETCH: 'yes' })).message).toBe(
      'AGENTORCHESTR_FETCH: "fetch" takes true or false (got "yes")',
    );
    expect((await refused({ AGENTORCHESTR_MAX_WORKERS: '1e1' })).message).toContain('(got "1e1")');
  });
});

describe('a project never grants anything', () => {
  it.each(SETTINGS.filter(({ scope }) => scope === 'user'))('by $key', async (setting) => {
    const value =
      { boolean: 'true', number: '1' }[typeof setting.fallback as string] ??
      (setting.key === 'verify' ? '["true"]' : '"x"');
    write(projectFile(), `# theirs\n${setting.key} = ${value}\n`);
    const { message, hint } = await refused();
    expect(message).toBe(
      `${projectFile()}:2: "${setting.key}" is not for a project to set: its files never grant anything`,
    );
    expect(hint).toContain(`set it for yourself: agentorchestr config set ${setting.key} …`);
    write(projectFile(), '');
    write(userFile(), `${setting.key} = ${value}\n`);
    expect(resolveSetting(await load(), setting.key).origin.from).toBe('user');
  });

  it('those are exactly: what agents may do, what runs or changes things as the person, what they are told', () => {
    expect(SETTINGS.filter(({ scope }) => scope === 'user').map(({ key }) => key)).toEqual([
      'verify',
      'apply',
      'bypass',
      'lead_may_answer',
      'limits.stall_s',
      'tmux.user_config',
    ]);
  });

  it.each(SETTINGS.filter(({ scope }) => scope === 'lower'))('but may lower $key', async (setting) => {
    const { key, fallback } = setting;
    write(userFile(), `${key} = 5\n`);
    write(projectFile(), `${key} = 6\n`);
    const theirs = { value: 6, origin: { from: 'project', where: `${projectFile()}:1` } };
    expect(resolveSetting(await load(), key)).toMatchObject({
      ...{ value: 5, origin: { from: 'user' }, refused: [theirs] },
      overrode: fallback === null ? [] : [{ value: fallback }],
    });
    write(projectFile(), `${key} = 4\n`);
    expect(resolveSetting(await load(), key)).toMatchObject({
      ...{ value: 4, origin: { from: 'project' }, refused: [] },
    });
    // What is built in is a limit too; where nothing is, every one lowers it.
    write(userFile(), '');
    write(projectFile(), `${key} = 64\n`);
    const alone = resolveSetting(await load(), key);
    const raised = fallback !== null && Number(fallback) < 64;
    expect([alone.value, alone.refused.length]).toEqual(raised ? [fallback, 1] : [64, 0]);
    // The person may raise what they like.
    const mine = await load({ [setting.variable]: '60' });
    expect(resolveSetting(mine, key).value).toBe(60);
  });

  it('those that it may lower are all limits of what a session costs', () => {
    expect(SETTINGS.filter(({ scope }) => scope === 'lower').map(({ key }) => key)).toEqual([
      'limits.max_workers',
      'limits.total_workers',
      'limits.spawns_per_minute',
      'limits.session_timeout_s',
      'limits.run_timeout_s',
    ]);
  });

  it('by an option that an agent would take for a flag', async () => {
    write(projectFile(), '[agent_options.one]\nmodel = "--dangerous"\n');
    expect((await refused()).message).toContain(':2: "agent_options.one.model" begins with a dash');
  });
});

describe('the table of settings', () => {
  it('has no two with one key, variable or flag', () => {
    for (const field of ['key', 'variable', 'flag'] as const) {
      const values = SETTINGS.map((setting) => setting[field]).filter((value) => value !== null);
      expect(new Set(values).size).toBe(values.length);
    }
  });

  it('its defaults are those of the plan', () => {
    const plan = sessionPlanSchema.parse({
      ...{ session_id: '00000001', goal: 'x', project: '/p', lead_agent: 'a', worker_agents: ['a'] },
      ...{ binaries: {}, verify_commands: [], setup_commands: [] },
    });
    const fallback = (key: string) => SETTINGS.find((setting) => setting.key === key)?.fallback;
    const same = Object.fromEntries(
      Object.keys(plan.limits).map((name) => [name, fallback(`limits.${name}`)]),
    );
    expect(same).toEqual(plan.limits);
    for (const key of ['include_changes', 'fetch', 'apply', 'kill_tmux', 'lead_may_answer'] as const)
      expect(fallback(key)).toBe(plan[key]);
    expect(fallback('bypass')).toBe(plan.bypass_permissions);
    expect(fallback('tmux.end_shown_s')).toBe(plan.end_shown_s);
  });

  it('takes what it says from a text', () => {
    const taken = SETTINGS.map((setting) => {
      const text = typeof setting.fallback === 'boolean' ? 'false' : '7';
      return [setting.key, valueOfText(setting, text, 'x')];
    });
    expect(Object.fromEntries(taken)).toMatchObject({
      ...{ lead: '7', agents: ['7'], fetch: false, bypass: false },
      'limits.max_workers': 7,
      'limits.session_timeout_s': 7,
    });
    for (const setting of SETTINGS) expect(() => valueOfText(setting, ' ', 'x')).toThrow(OrchestratorError);
  });
});
