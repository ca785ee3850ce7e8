import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isComplete } from '../../../src/doors/cli/goal/read-goal.js';
import type { CliHost, ProjectExamination, SessionListing } from '../../../src/doors/cli/host.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import type { SessionPlanInput } from '../../../src/services/supervise/plan.js';
import { fakeHost, fakeTerminal, sessionListing } from './fake-host.js';

const REPOSITORY = join(import.meta.dirname, '../../..');

const examined: ProjectExamination = {
  project: '/project',
  trusted: true,
  verifyCommands: [],
  setupCommands: [],
  consentNeeded: [],
  verifyGivenUnused: false,
  baseStatement: 'base main@0000000',
  leavesChangesOut: false,
};

/** Runs until the session would start, and returns its plan. */
async function plan(
  args: string[],
  options: {
    tty?: boolean;
    answers?: string[];
    examined?: Partial<ProjectExamination>;
    host?: Partial<CliHost>;
  } = {},
) {
  const terminal = fakeTerminal({ tty: options.tty ?? false, answers: options.answers ?? [] });
  const agreed: unknown[] = [];
  let planned: SessionPlanInput | null = null;
  const host = fakeHost(terminal, {
    examineProject: () => Promise.resolve({ ...examined, ...options.examined }),
    trustProject: (project) => Promise.resolve(void agreed.push(['trust', project])),
    consentToCommands: (_project, commands) =>
      Promise.resolve(void agreed.push(commands.map(({ command }) => command))),
    startSession: (started) => {
      planned = started;
      return Promise.reject(new Error('far enough'));
    },
    ...options.host,
  });
  const code = await runProgram(host, args);
  return { plan: planned as SessionPlanInput | null, code, said: terminal.said.err, agreed };
}

describe('typing a goal', () => {
  it.each([
    { lines: ['a', '/end'], complete: true },
    { lines: ['a', '', ''], complete: true },
    { lines: ['a', ' ', '\t'], complete: true },
    { lines: ['', ''], complete: false },
    { lines: ['a', '', 'b'], complete: false },
    { lines: ['a', ' /end'], complete: false },
    { lines: ['/end of the street'], complete: false },
  ])('[13] $lines is complete: $complete', ({ lines, complete }) => {
    expect(isComplete(lines)).toBe(complete);
  });

  it('[13] takes lines until /end, two blank lines or the end of the input', async () => {
    for (const end of [['/end', 'not this'], ['', '', 'not this'], []])
      expect(
        (await plan(['--interactive'], { tty: true, answers: ['first', '', 'second', ...end] })).plan?.goal,
      ).toBe('first\n\nsecond');
  });

  it('happens on a terminal also without --interactive, after everything else was checked', async () => {
    expect((await plan([], { tty: true, answers: ['a goal', '/end'] })).plan?.goal).toBe('a goal');
    const { said, code } = await plan(['--agents', 'nobody'], { tty: true, answers: ['a goal', '/end'] });
    expect(code).toBe(1);
    expect(said).not.toContain('What is to be reached?');
  });

  it('[15] nothing typed is no goal', async () => {
    expect(await plan(['--interactive'], { tty: true, answers: ['', '/end'] })).toMatchObject({
      plan: null,
      code: 64,
    });
  });
});

describe('the plan', () => {
  it('says how to take along what is not committed, where something is left out', async () => {
    const hint = 'to start from them too: --include-changes';
    const said = async (leavesChangesOut: boolean) =>
      (await plan(['--goal', 'x', '--yes'], { examined: { leavesChangesOut } })).said;
    expect(await said(true)).toContain(hint);
    expect(await said(false)).not.toContain(hint);
  });

  it('is not made where tmux is missing, before anything is asked or recorded', async () => {
    const host = { hasTmux: () => Promise.resolve(false) };
    const {
      plan: planned,
      code,
      said,
      agreed,
    } = await plan([], { tty: true, answers: ['a goal', '/end'], host });
    expect([planned, code, agreed]).toEqual([null, 1, []]);
    expect(said).toMatch(/^error: tmux is not installed\nhint: /);
  });

  it('carries every flag', async () => {
    const flags =
      '--max-workers 3 --session-timeout 60 --include-changes --fetch --apply --kill-tmux --no-bypass --headless --lead-may-answer --yes --no-attach';
    const { plan: planned } = await plan(['--goal', ' reach it ', ...flags.split(' ')]);
    expect(planned).toEqual({
      session_id: '00000001',
      goal: 'reach it',
      project: '/project',
      lead_agent: 'one',
      worker_agents: ['two'],
      binaries: { one: '/bin/one', two: '/bin/two' },
      agent_options: {},
      include_changes: true,
      fetch: true,
      apply: true,
      kill_tmux: true,
      bypass_permissions: false,
      lead_may_answer: true,
      worker_backend: 'headless',
      verify_commands: [],
      setup_commands: [],
      limits: { max_workers: 3, session_timeout_s: 60 },
      terminal: null,
      tmux_user_config: null,
      end_shown_s: 10,
    });
  });

  it('says aloud what will run: base, agents, commands and their source, prompts', async () => {
    const { said } = await plan(['--goal', 'x'], {
      examined: {
        setupCommands: [{ label: 'deps', command: 'npm ci', source: 'PROJECT.md' }],
        verifyCommands: [{ label: 'test', command: 'npm test', source: 'package.json' }],
      },
    });
    expect(said.split('\n').slice(0, 5)).toEqual([
      'base     main@0000000',
      'agents   one leads; workers: two',
      'set up   npm ci   (PROJECT.md)',
      'verify   npm test   (guessed from package.json)',
      'prompts  permission prompts are off for agents (--no-bypass leaves them on)',
    ]);
    expect((await plan(['--goal', 'x', '--no-bypass'])).said).toContain(
      'permission prompts stay on for agents',
    );
    expect((await plan(['--goal', 'x', '--lead-may-answer'])).said).toContain(
      'the lead may answer what its workers ask you for',
    );
    expect((await plan(['--goal', 'x'])).said).toContain('nothing is known: the result will not be verified');
  });

  it('names the sessions of this project that are not over, for both modes', async () => {
    const open = ['a', 'b', 'c', 'd', 'e'].map((id, index) =>
      sessionListing(id, {
        state: index === 0 ? 'active' : 'paused',
        resumable: index > 0,
        goal: `goal\n${id}`,
      }),
    );
    const others = [
      sessionListing('f', { state: 'failed', resumable: true }),
      sessionListing('g', { state: 'active', project: '/other' }),
    ];
    const said = async (args: string[], ...sessions: SessionListing[]) =>
      (
        await plan(args, {
          host: {
            listSessions: () => Promise.resolve([...sessions, ...others]),
          },
        })
      ).said;
    expect((await said(['--goal', 'x'], ...open)).split('\n').slice(1, 6)).toEqual([
      'also here  a (active) goal a',
      '           b (paused) goal b',
      '           c (paused) goal c',
      '           and 2 more',
      '           this one begins anew, apart from it; to go on with one: --resume ID',
    ]);
    expect(await said(['--manual', '--task', 'x', '--agent', 'one'], ...open)).toContain('also here  a');
    expect(await said(['--goal', 'x'])).not.toContain('also here');
  });

  it('[23] knows the size of the terminal only when it will be attached', async () => {
    const terminal = async (args: string[], env: Record<string, string> = {}) =>
      (await plan(['--goal', 'x', ...args], { tty: true, host: { env } })).plan?.terminal;
    expect(await terminal([])).toEqual({ columns: 100, rows: 30 });
    expect(await terminal(['--no-attach'])).toBeNull();
    expect(await terminal(['--json'])).toBeNull();
    expect(await terminal([], { TMUX: '/tmp/tmux,1,0' })).toBeNull();
    expect(await terminal(['--attach'], { TMUX: '/tmp/tmux,1,0' })).toEqual({ columns: 100, rows: 30 });
    expect((await plan(['--goal', 'x', '--attach'])).said).toContain('warning: --attach needs a terminal');
  });
});

describe('trust and consent', () => {
  const commands = [{ label: 'test', command: 'npm test', source: 'PROJECT.md' }];
  const fresh = { trusted: false, consentNeeded: commands, verifyCommands: commands };

  it('are asked for on a terminal, answer by answer', async () => {
    const {
      plan: planned,
      agreed,
      said,
    } = await plan(['--goal', 'x'], { tty: true, answers: ['what', 'y', 'YES'], examined: fresh });
    expect(agreed).toEqual([['trust', '/project'], ['npm test']]);
    expect(planned?.verify_commands).toEqual(commands);
    expect(said).toContain(
      'Agents will read, change and run things there as you, with their permission prompts off.',
    );
    expect(said).toContain('Please answer y or n.');
    expect(said).toContain('  npm test   (PROJECT.md)\nRun them? [y/N] ');
  });

  it.each([
    { answers: [], agreed: [], error: 'is not a trusted project yet' },
    { answers: [''], agreed: [], error: 'is not a trusted project yet' },
    { answers: ['y', 'n'], agreed: [['trust', '/project']], error: 'need your consent: npm test' },
  ])('refused with $answers stop everything', async ({ answers, agreed, error }) => {
    const result = await plan(['--goal', 'x'], { tty: true, answers, examined: fresh });
    expect(result).toMatchObject({ plan: null, code: 4, agreed });
    expect(result.said).toContain(error);
  });

  it('are given by --yes, and said', async () => {
    const { plan: planned, agreed, said } = await plan(['--goal', 'x', '--yes'], { examined: fresh });
    expect(planned).not.toBeNull();
    expect(agreed).toHaveLength(2);
    expect(said).toContain('Trust this project? yes (--yes)');
    // What one is asked about is said before.
    expect(said.indexOf('main@')).toBeGreaterThan(-1);
    expect(said.indexOf('main@')).toBeLessThan(said.indexOf('First time in'));
  });

  it('are never given by the lack of a terminal', async () => {
    expect(await plan(['--goal', 'x'], { examined: fresh })).toMatchObject({
      plan: null,
      code: 4,
      agreed: [],
    });
  });
});

describe('tmux settings of the person', () => {
  const withConfig = (value: string) =>
    plan(['--goal', 'x', '--yes', '--no-attach', '--verify', 'true'], {
      host: { env: { HOME: REPOSITORY, AGENTORCHESTR_TMUX_CONFIG: value } },
    });

  it('are taken from a file that the environment names, and from nowhere else', async () => {
    const path = join(REPOSITORY, 'package.json');
    for (const value of [path, '~/package.json', ` ${path} `])
      expect((await withConfig(value)).plan?.tmux_user_config).toBe(path);
    for (const value of ['', ' ']) expect((await withConfig(value)).plan?.tmux_user_config).toBeNull();
  });

  it.each([
    ['~/no-such-file', 'no such file'],
    ['~/src', 'it is not a file'],
  ])('stop the start when they cannot be read: %s', async (value, problem) => {
    const { plan: planned, code, said } = await withConfig(value);
    expect({ planned, code }).toEqual({ planned: null, code: 1 });
    expect(said).toContain(
      `error: cannot read ${join(REPOSITORY, value.slice(2))}: ${problem} (AGENTORCHESTR_TMUX_CONFIG)`,
    );
  });
});
