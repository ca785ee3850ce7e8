import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { SessionPlanInput } from '../../../services/supervise/plan.js';
import { checkRequiredOptions, readAgentOptions } from '../goal/agent-options.js';
import { settleConsent } from '../goal/consent.js';
import { examine } from '../goal/examine.js';
import { limitsOf, projectFolder, readGoalSettings, type GoalSettings } from '../goal/goal-settings.js';
import { sayPlan } from '../goal/say-plan.js';
import { refuseContradictions } from '../action.js';
import { readTmuxConfig } from '../goal/tmux-config.js';
import type { CliHost } from '../host.js';
import { printWarning } from '../output/errors.js';
import type { Parsed } from '../parse.js';
import { finish, isOver } from '../watch/finish.js';
import { follow, shallAttach } from '../watch/follow.js';
import { chooseAgent, type Place } from './choose-agent.js';
import { readTask } from './read-task.js';
import { sayEnd } from './say-end.js';
import { sayWhatIsLeft } from './say-what-is-left.js';

/** One agent, one task, its own worktree, nobody leads; from the command line to its end. Returns the exit code. */
export async function startManual(host: CliHost, parsed: Parsed): Promise<number> {
  refuseContradictions(parsed.given);
  const task = readTask(parsed);
  const project = projectFolder(parsed, host);
  const settings = await readGoalSettings(parsed, host, project);
  const place = await placeFor(host, parsed, settings);
  const agentOptions = await readAgentOptions(parsed.texts('agent-option'), host, settings.all);
  const tmuxConfig = await readTmuxConfig(settings.get('tmux.user_config'), host.env);
  const examined = await examine(host, project, settings);
  const names = namesOf(parsed, settings);
  const agent = chooseAgent(await host.detectAgents(names), host.knownAgents(), { names, place });
  checkRequiredOptions([agent.name], agentOptions, host.knownAgents());
  const bypass = settings.isOn('bypass');
  sayPlan(host, {
    examined,
    agents: `${agent.name} alone, ${WHERE[place]}`,
    bypass,
    leadMayAnswer: false,
    settings: settings.all,
  });
  await settleConsent(host, examined, { yes: parsed.isOn('yes') ?? false, bypass });
  const showPanes = place !== 'foreground' && shallAttach(host, parsed);
  const { columns, rows } = host.terminal;
  const plan: SessionPlanInput = {
    session_id: host.newSessionId(),
    mode: 'manual',
    goal: task,
    project: examined.project,
    lead_agent: agent.name,
    worker_agents: [agent.name],
    worker_backend: place,
    binaries: { [agent.name]: agent.binary },
    verify_commands: [...examined.verifyCommands],
    setup_commands: [...examined.setupCommands],
    terminal: showPanes ? { columns, rows } : null,
    agent_options: agentOptions,
    include_changes: settings.isOn('include_changes'),
    fetch: settings.isOn('fetch'),
    apply: settings.isOn('apply'),
    kill_tmux: settings.isOn('kill_tmux'),
    bypass_permissions: bypass,
    tmux_user_config: tmuxConfig,
    limits: limitsOf(settings),
  };
  return place === 'foreground'
    ? runHere(host, plan)
    : runApart(host, plan, { showPanes, json: parsed.isOn('json') ?? false });
}

const WHERE: Record<Place, string> = {
  tmux: 'in a pane',
  headless: 'without a terminal, shown in a pane',
  foreground: 'on this terminal (tmux is not installed)',
};

/** In tmux; without it on the person's own terminal. Throws NOT_A_TTY, USAGE. */
async function placeFor(host: CliHost, parsed: Parsed, settings: GoalSettings): Promise<Place> {
  const isHeadless = settings.isOn('headless');
  if (await host.hasTmux()) return isHeadless ? 'headless' : 'tmux';
  const hint = 'install tmux (agentorchestr --doctor says how), or run it in a terminal without --json';
  if (parsed.isOn('json') === true)
    throw new OrchestratorError('USAGE', {
      problem: '--json needs tmux: without it the agent itself writes on this terminal',
      hint,
    });
  if (!host.terminal.stdinIsTty || !host.terminal.stdoutIsTty)
    throw new OrchestratorError('NOT_A_TTY', { what: '--manual without tmux', hint });
  if (isHeadless || parsed.isOn('attach') === true)
    printWarning(host.terminal, 'tmux is not installed: there are no panes, the agent gets this terminal');
  return 'foreground';
}

/** `--agent`, else those that `--agents` or a setting allow. Throws USAGE. */
function namesOf(parsed: Parsed, settings: GoalSettings): readonly string[] | null {
  const one = parsed.text('agent');
  if (one === undefined) return settings.texts('agents');
  if (parsed.given.includes('agents'))
    throw new OrchestratorError('USAGE', {
      problem: '--agent and --agents are two ways to name one agent',
      hint: `in manual mode one agent works: --agent ${one}`,
    });
  return [one];
}

/** A supervisor of its own; here it is only watched. */
async function runApart(
  host: CliHost,
  plan: SessionPlanInput,
  options: { showPanes: boolean; json: boolean },
): Promise<number> {
  if (host.terminal.interrupted.aborted) return EXIT.interrupted;
  const { sessionId } = await host.startSession(plan);
  const code = await follow(host, sessionId, options);
  const report = await host.report(sessionId);
  if (!options.json && isOver(report)) await sayWhatIsLeft(host, report);
  return code;
}

/** The agent has this terminal, and with its end this process ends the session: nothing is left that could go on. */
async function runHere(host: CliHost, plan: SessionPlanInput): Promise<number> {
  const { session_id: sessionId } = plan;
  // It must not die of a terminal that goes, either.
  host.terminal.interruptOnHangUp();
  host.terminal.err(
    `session ${sessionId}: ${plan.lead_agent} gets this terminal. Leave it as usual when it has reported; its work is kept either way.\n\n`,
  );
  const watching = new AbortController();
  let said: Promise<void> = Promise.resolve();
  try {
    await host.superviseHere(plan, () => {
      said = sayEnd(host, sessionId, watching.signal);
    });
  } finally {
    watching.abort();
    await said;
  }
  const report = await host.report(sessionId);
  const code = await finish(host, report, { json: false });
  await sayWhatIsLeft(host, report);
  return code;
}
