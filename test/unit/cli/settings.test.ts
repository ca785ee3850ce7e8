import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { SETTINGS } from '../../../src/config/schema.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import type { SessionPlanInput } from '../../../src/services/supervise/plan.js';
import { agent, fakeHost, fakeTerminal, known } from './fake-host.js';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'ao-plan-'));
  mkdirSync(join(root, 'home'));
  mkdirSync(join(root, 'project/.agentorchestr'), { recursive: true });
  writeFileSync(join(root, 'home/tmux.conf'), '');
  writeFileSync(join(root, 'project/script.yaml'), '');
});
afterEach(() => rmSync(root, { recursive: true }));

const mine = (text: string) => writeFileSync(join(root, 'home/config.toml'), text);
const theirs = (text: string) => writeFileSync(join(root, 'project/.agentorchestr/config.toml'), text);

/** The plan that a goal would be started with, and what the project was asked for. */
async function plan(args: readonly string[] = [], env: Record<string, string> = {}) {
  const terminal = fakeTerminal();
  let planned: SessionPlanInput | null = null;
  let asked: unknown = null;
  const agents = ['one', 'two', 'three'].map((name) => agent(name));
  const host = fakeHost(terminal, {
    env: { HOME: root, AGENTORCHESTR_HOME: join(root, 'home'), ...env },
    knownAgents: () =>
      known(...agents).map((one) => ({
        ...one,
        options: [
          { name: 'model', summary: 'its model', required: false, file: false },
          { name: 'script', summary: 'its script', required: false, file: true },
        ],
      })),
    detectAgents: (names) =>
      Promise.resolve(agents.filter(({ name }) => names === null || names.includes(name))),
    examineProject: (project, options) => {
      asked = options;
      return Promise.resolve({
        ...{ project, trusted: true, verifyCommands: [], setupCommands: [], consentNeeded: [] },
        ...{ verifyGivenUnused: true, baseStatement: 'base main@0000000', leavesChangesOut: false },
      });
    },
    startSession: (started) => {
      planned = started;
      return Promise.reject(new Error('far enough'));
    },
  });
  await runProgram(host, ['--goal', 'x', '--project', join(root, 'project'), ...args]);
  return { plan: planned as SessionPlanInput | null, asked, said: terminal.said.err };
}

/** Per setting: a value in a file, what it makes of the plan, and a flag that beats it, where there is one. */
const EFFECTS: Readonly<
  Record<
    string,
    {
      text: string;
      effect: Partial<SessionPlanInput>;
      flag?: readonly string[];
      beaten?: Partial<SessionPlanInput>;
    }
  >
> = {
  lead: {
    ...{ text: 'lead = "two"', effect: { lead_agent: 'two', worker_agents: ['one', 'three'] } },
    ...{ flag: ['--lead', 'three'], beaten: { lead_agent: 'three' } },
  },
  agents: {
    ...{ text: 'agents = ["two", "three"]', effect: { lead_agent: 'two', worker_agents: ['three'] } },
    ...{ flag: ['--agents', 'one'], beaten: { lead_agent: 'one', worker_agents: ['one'] } },
  },
  headless: {
    ...{ text: 'headless = true', effect: { worker_backend: 'headless' } },
    ...{ flag: ['--no-headless'], beaten: { worker_backend: 'tmux' } },
  },
  include_changes: {
    ...{ text: 'include_changes = true', effect: { include_changes: true } },
    ...{ flag: ['--no-include-changes'], beaten: { include_changes: false } },
  },
  fetch: { text: 'fetch = true', effect: { fetch: true }, flag: ['--no-fetch'], beaten: { fetch: false } },
  apply: { text: 'apply = true', effect: { apply: true }, flag: ['--no-apply'], beaten: { apply: false } },
  kill_tmux: {
    ...{ text: 'kill_tmux = true', effect: { kill_tmux: true } },
    ...{ flag: ['--no-tmux-cleanup'], beaten: { kill_tmux: false } },
  },
  bypass: {
    ...{ text: 'bypass = false', effect: { bypass_permissions: false } },
    ...{ flag: ['--bypass'], beaten: { bypass_permissions: true } },
  },
  lead_may_answer: {
    ...{ text: 'lead_may_answer = true', effect: { lead_may_answer: true } },
    ...{ flag: ['--no-lead-may-answer'], beaten: { lead_may_answer: false } },
  },
  'limits.max_workers': {
    ...{ text: 'limits.max_workers = 3', effect: { limits: { max_workers: 3 } } },
    ...{ flag: ['--max-workers', '5'], beaten: { limits: { max_workers: 5 } } },
  },
  'limits.total_workers': { text: 'limits.total_workers = 3', effect: { limits: { total_workers: 3 } } },
  'limits.spawns_per_minute': {
    ...{ text: 'limits.spawns_per_minute = 3', effect: { limits: { spawns_per_minute: 3 } } },
  },
  'limits.session_timeout_s': {
    ...{ text: 'limits.session_timeout_s = 3', effect: { limits: { session_timeout_s: 3 } } },
    ...{ flag: ['--session-timeout', '5'], beaten: { limits: { session_timeout_s: 5 } } },
  },
  'limits.run_timeout_s': {
    ...{ text: 'limits.run_timeout_s = 3', effect: { limits: { run_timeout_s: 3 } } },
    ...{ flag: ['--run-timeout', '5'], beaten: { limits: { run_timeout_s: 5 } } },
  },
  'limits.stall_s': {
    ...{ text: 'limits.stall_s = 3', effect: { limits: { stall_s: 3 } } },
    ...{ flag: ['--stall-after', '0'], beaten: { limits: { stall_s: 0 } } },
  },
  'tmux.end_shown_s': { text: 'tmux.end_shown_s = 3', effect: { end_shown_s: 3 } },
};

describe('each setting changes the plan of a session', () => {
  it('and none is without an effect here', () => {
    // These two are looked at below: they say it with more than the plan alone.
    expect([...Object.keys(EFFECTS), 'verify', 'tmux.user_config'].sort()).toEqual(
      SETTINGS.map(({ key }) => key).sort(),
    );
  });

  it.each(Object.entries(EFFECTS))('%s', async (key, { text, effect, flag, beaten }) => {
    const untouched = (await plan()).plan;
    mine(`${text}\n`);
    const { plan: planned, said } = await plan();
    expect(planned).toEqual({ ...untouched, ...effect, binaries: planned?.binaries });
    expect(planned).not.toEqual(untouched);
    expect(said).toContain('settings');
    expect(said).toContain(`${key} = `);
    expect(said).toContain('(~/home/config.toml:1)');
    if (flag === undefined) return;
    expect((await plan(flag)).plan).toMatchObject(beaten ?? {});
    if (SETTINGS.find((setting) => setting.key === key)?.scope === 'user') return;
    mine('');
    theirs(`${text}\n`);
    expect((await plan()).plan).toEqual(planned);
  });

  it('verify: asked for as it is set, and the project’s own list is no reason for a warning', async () => {
    mine('\nverify = ["make test"]\n');
    const { asked, said } = await plan();
    expect(asked).toEqual({
      verify: ['make test'],
      verifySource: `set in ${join(root, 'home/config.toml')}:2`,
      includeChanges: false,
    });
    expect(said).not.toContain('warning');
    const flagged = await plan(['--verify', 'true']);
    expect(flagged.asked).toMatchObject({ verify: ['true'], verifySource: '--verify' });
    expect(flagged.said).toContain('--verify is not used');
  });

  it('tmux.user_config: beside the file that names it, or by the variable', async () => {
    mine('[tmux]\nuser_config = "tmux.conf"\n');
    const path = join(root, 'home/tmux.conf');
    expect((await plan()).plan?.tmux_user_config).toBe(path);
    expect((await plan([], { AGENTORCHESTR_TMUX_CONFIG: '~/home/none.conf' })).said).toContain(
      `cannot read ${join(root, 'home/none.conf')}: no such file (AGENTORCHESTR_TMUX_CONFIG)`,
    );
    mine('[tmux]\nuser_config = "none.conf"\n');
    expect((await plan()).said).toContain(`no such file (${join(root, 'home/config.toml')}:2)`);
  });

  it('what a project would raise is not used, and that is said', async () => {
    mine('limits.max_workers = 2\n');
    theirs('limits.max_workers = 40\nlimits.run_timeout_s = 60\n');
    const { plan: planned, said } = await plan();
    expect(planned?.limits).toEqual({ max_workers: 2, run_timeout_s: 60 });
    expect(said.replace(/\s+/g, ' ')).toContain(
      `limits.max_workers = 40 (${join(root, 'project/.agentorchestr/config.toml')}:1) is not used: a project may only lower a limit, and yours is 2`,
    );
  });

  it('options of agents: each by itself, files beside the file that names them, the flag last', async () => {
    mine('[agent_options.one]\nmodel = "small"\n');
    theirs('agent_options.one.script = "../script.yaml"\n');
    const script = join(root, 'project/script.yaml');
    expect((await plan()).plan?.agent_options).toEqual({ one: { model: 'small', script } });
    expect((await plan(['--agent-option', 'one.model=large'])).plan?.agent_options).toEqual({
      one: { model: 'large', script },
    });
    theirs('\nagent_options.one.modle = "x"\n');
    expect((await plan()).said).toBe(
      `error: ${join(root, 'project/.agentorchestr/config.toml')}:2: one has no option "modle"\nhint: did you mean model?\n`,
    );
    theirs('agent_options.on.model = "x"\n');
    expect((await plan()).said).toContain('config.toml:1: no agent "on"\nhint: did you mean one?');
  });
});

describe('a lead and a list without it', () => {
  it('from two places: the weaker gives way, and that is said', async () => {
    mine('lead = "one"\n');
    const listed = await plan(['--agents', 'two', 'three']);
    expect(listed.plan).toMatchObject({ lead_agent: 'two', worker_agents: ['three'] });
    expect(listed.said).toContain(`warning: lead "one" (${join(root, 'home/config.toml')}:1) is not used`);
    mine('agents = ["two", "three"]\n');
    const led = await plan(['--lead', 'one']);
    expect(led.plan).toMatchObject({ lead_agent: 'one', worker_agents: ['two', 'three'] });
    expect(led.said).toContain('is not used: --lead asks for one');
  });

  it('from one place: a contradiction', async () => {
    mine('lead = "one"\nagents = ["two"]\n');
    expect((await plan()).plan).toBeNull();
    expect((await plan(['--lead', 'one', '--agents', 'two'])).plan).toBeNull();
  });
});
