import { describe, expect, it } from 'vitest';
import type { CliHost, DetectedAgent } from '../../../src/doors/cli/host.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import type { SessionPlanInput } from '../../../src/services/supervise/plan.js';
import { agent, fakeHost, fakeTerminal, known } from './fake-host.js';

const AGENTS = [
  agent('editor', { kind: 'ide' }),
  agent('one', { launchableInForeground: false }),
  agent('two'),
  agent('none', { launchable: false, launchableInForeground: false }),
];

/** Runs until the session would start, wherever that is. */
async function plan(
  args: string[],
  options: { tty?: boolean; tmux?: boolean; agents?: DetectedAgent[]; host?: Partial<CliHost> } = {},
) {
  const { tty = false, tmux = true, agents = AGENTS } = options;
  const terminal = fakeTerminal({ tty });
  let planned: { place: 'apart' | 'here'; plan: SessionPlanInput } | null = null;
  const host = fakeHost(terminal, {
    knownAgents: () => known(...agents),
    detectAgents: (names) =>
      Promise.resolve(agents.filter(({ name }) => names === null || names.includes(name))),
    hasTmux: () => Promise.resolve(tmux),
    startSession: (started) => {
      planned = { place: 'apart', plan: started };
      return Promise.reject(new Error('far enough'));
    },
    superviseHere: (started) => {
      planned = { place: 'here', plan: started };
      return Promise.reject(new Error('far enough'));
    },
    ...options.host,
  });
  const code = await runProgram(host, args);
  return { planned: planned as { place: string; plan: SessionPlanInput } | null, code, said: terminal.said };
}

const TASK = ['--manual', '--task', ' Fix it '];

describe('a command line in manual mode', () => {
  it('[111] without --task is a usage error that shows how to give one', async () => {
    const { code, said, planned } = await plan(['--manual']);
    expect([code, planned]).toEqual([64, null]);
    expect(said.err).toContain('error: --manual needs the task\n');
    expect(said.err).toContain('hint: give it with --task: agentorchestr --manual --task "Fix the typo');
  });

  it.each([
    [['--manual', '--task', ' '], '--task is empty'],
    [['--manual', '--task', 'x'.repeat(70_000)], 'the task is 70000 bytes; the limit is 65536'],
    [['--manual', '--goal', 'x'], '--manual and --goal cannot be used together'],
    [[...TASK, '--lead', 'one'], '--manual and --lead cannot be used together'],
    [[...TASK, '--no-lead-may-answer'], '--manual and --no-lead-may-answer cannot be used together'],
    [[...TASK, '--detect'], '--detect and --manual cannot be used together'],
    [[...TASK, '--resume', '3f2a'], '--resume and --manual cannot be used together'],
    [[...TASK, '--agent', 'one', '--agents', 'two'], '--agent and --agents are two ways to name one agent'],
  ])('%j is answered with: %s', async (args, problem) => {
    const { code, said, planned } = await plan(args);
    expect([code, planned]).toEqual([64, null]);
    expect(said.err).toContain(`error: ${problem}\nhint: `);
  });

  it('[111] plans a session of one agent without a lead, in tmux', async () => {
    const { planned, said } = await plan([...TASK, '--apply', '--session-timeout', '60']);
    expect(planned?.place).toBe('apart');
    expect(planned?.plan).toMatchObject({
      ...{ mode: 'manual', goal: 'Fix it', worker_agents: ['one'], worker_backend: 'tmux', apply: true },
      ...{ binaries: { one: '/bin/one' }, limits: { session_timeout_s: 60 } },
    });
    expect(said.err).toContain('agents   one alone, in a pane\n');
  });

  it('[111] gives it the terminal where tmux is missing, and takes an agent that can begin there', async () => {
    const { planned, said } = await plan(TASK, { tty: true, tmux: false });
    expect(planned?.place).toBe('here');
    expect(planned?.plan).toMatchObject({
      worker_agents: ['two'],
      worker_backend: 'foreground',
      terminal: null,
    });
    expect(said.err).toContain('two alone, on this terminal (tmux is not installed)');
    expect(said.err).toContain('session 00000001: two gets this terminal.');
  });

  it.each([
    { args: ['--agent', 'two'], agents: ['two'] },
    { args: ['--agents', 'none,editor,two'], agents: ['two'] },
    { args: ['--agents', 'editor'], agents: ['editor'] },
    { args: ['--headless', '--agent', 'one'], agents: ['one'] },
  ])('takes $agents for $args', async ({ args, agents }) => {
    const { planned } = await plan([...TASK, ...args]);
    expect(planned?.plan.worker_agents).toEqual(agents);
    expect(planned?.plan.worker_backend).toBe(args.includes('--headless') ? 'headless' : 'tmux');
  });

  it.each([
    { args: ['--agent', 'nobody'], tmux: true, code: 1, problem: 'nobody' },
    { args: ['--agent', 'none'], tmux: true, code: 1, problem: 'none is detected but cannot be started' },
    {
      args: ['--agent', 'one'],
      tmux: false,
      code: 1,
      problem: 'one can only be started in a pane, and tmux is',
    },
    { args: ['--json'], tmux: false, code: 64, problem: '--json needs tmux' },
  ])('refuses $args (tmux: $tmux): $problem', async ({ args, tmux, code, problem }) => {
    const { planned, said, code: given } = await plan([...TASK, ...args], { tty: true, tmux });
    expect([given, planned]).toEqual([code, null]);
    expect(args.includes('--json') ? said.out + said.err : said.err).toContain(problem);
  });

  it('without tmux and without a terminal there is no place for an agent', async () => {
    const { code, said } = await plan(TASK, { tmux: false });
    expect(code).toBe(64);
    expect(said.err).toContain('error: --manual without tmux needs a terminal\nhint: install tmux');
  });

  it('without an agent says so', async () => {
    const { code, said } = await plan(TASK, { agents: [] });
    expect(code).toBe(1);
    expect(said.err).toContain('error: no coding agent was found on PATH');
  });
});
