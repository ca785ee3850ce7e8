import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { SessionPlanInput } from '../../../services/supervise/plan.js';
import { refuseContradictions } from '../action.js';
import type { CliHost, ProjectExamination } from '../host.js';
import { refuseWithoutManual } from '../manual/read-task.js';
import { printWarning } from '../output/errors.js';
import type { Parsed } from '../parse.js';
import { follow, shallAttach } from '../watch/follow.js';
import { checkRequiredOptions, readAgentOptions } from './agent-options.js';
import { chooseAgents, type AgentChoice } from './choose-agents.js';
import { settleConsent } from './consent.js';
import { examine } from './examine.js';
import {
  limitsOf,
  projectFolder,
  readGoalSettings,
  refusedWarnings,
  wishesOf,
  type GoalSettings,
} from './goal-settings.js';
import { isTyped, readGoal } from './read-goal.js';
import { sayPlan } from './say-plan.js';
import { readTmuxConfig } from './tmux-config.js';

/** From a goal to its result: everything that needs a person is settled here, then the session runs by itself. */
export async function startGoal(host: CliHost, parsed: Parsed): Promise<number> {
  refuseContradictions(parsed.given);
  refuseWithoutManual(parsed.given);
  const project = projectFolder(parsed, host);
  const settings = await readGoalSettings(parsed, host, project);
  const agentOptions = await readAgentOptions(parsed.texts('agent-option'), host, settings.all);
  const tmuxConfig = await readTmuxConfig(settings.get('tmux.user_config'), host.env);
  const examined = await examine(host, project, settings);
  // What is typed in comes last, so that nobody types in vain.
  const ready = isTyped(parsed) && host.terminal.stdinIsTty ? null : await readGoal(parsed, host);
  const choice = await chosen(settings, host);
  checkRequiredOptions(
    [choice.lead, ...choice.workers].map(({ name }) => name),
    agentOptions,
    host.knownAgents(),
  );
  if (!(await host.hasTmux())) throw new OrchestratorError('TMUX_MISSING');
  const { goal, warnings } = ready ?? (await readGoal(parsed, host));
  for (const warning of [...warnings, ...choice.warnings, ...refusedWarnings(settings)])
    printWarning(host.terminal, warning);

  const bypass = settings.isOn('bypass');
  const leadMayAnswer = settings.isOn('lead_may_answer');
  const workers = choice.workers.map(({ name }) => name).join(', ');
  const agents = `${choice.lead.name} leads; workers: ${workers}`;
  sayPlan(host, { examined, agents, bypass, leadMayAnswer, settings: settings.all });
  await settleConsent(host, examined, { yes: parsed.isOn('yes') ?? false, bypass });
  if (host.terminal.interrupted.aborted) return EXIT.interrupted;
  const showPanes = shallAttach(host, parsed);
  const started = await host.startSession({
    ...planOf({ host, examined, choice, goal, showPanes }),
    agent_options: agentOptions,
    include_changes: settings.isOn('include_changes'),
    worker_backend: settings.isOn('headless') ? 'headless' : 'tmux',
    fetch: settings.isOn('fetch'),
    apply: settings.isOn('apply'),
    kill_tmux: settings.isOn('kill_tmux'),
    bypass_permissions: bypass,
    lead_may_answer: leadMayAnswer,
    tmux_user_config: tmuxConfig,
    end_shown_s: Number(settings.get('tmux.end_shown_s').value),
    limits: limitsOf(settings),
  });
  if (started.baseStatement !== examined.baseStatement) host.terminal.err(`${started.baseStatement}\n`);
  return follow(host, started.sessionId, { showPanes, json: parsed.isOn('json') ?? false });
}

async function chosen(settings: GoalSettings, host: CliHost): Promise<AgentChoice> {
  const { names, lead, warnings } = wishesOf(settings);
  const detected = await host.detectAgents(names);
  const byName =
    lead === null || names !== null || detected.some(({ name }) => name === lead)
      ? []
      : await host.detectAgents([lead]);
  const choice = chooseAgents([...detected, ...byName], host.knownAgents(), { names, lead });
  return { ...choice, warnings: [...warnings, ...choice.warnings] };
}

function planOf(parts: {
  host: CliHost;
  examined: ProjectExamination;
  choice: AgentChoice;
  goal: string;
  showPanes: boolean;
}): SessionPlanInput {
  const { host, examined, choice, goal } = parts;
  const { columns, rows } = host.terminal;
  return {
    session_id: host.newSessionId(),
    goal,
    project: examined.project,
    lead_agent: choice.lead.name,
    worker_agents: choice.workers.map(({ name }) => name),
    binaries: Object.fromEntries([choice.lead, ...choice.workers].map(({ name, binary }) => [name, binary])),
    verify_commands: [...examined.verifyCommands],
    setup_commands: [...examined.setupCommands],
    terminal: parts.showPanes ? { columns, rows } : null,
  };
}
