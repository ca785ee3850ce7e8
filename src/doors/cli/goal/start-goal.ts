import { resolve } from 'node:path';
import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { SessionPlanInput } from '../../../services/supervise/plan.js';
import type { CliHost, ProjectExamination } from '../host.js';
import { printWarning } from '../output/errors.js';
import type { Parsed } from '../parse.js';
import { follow, shallAttach } from '../watch/follow.js';
import { checkRequiredOptions, expandHome, readAgentOptions } from './agent-options.js';
import { chooseAgents, type AgentChoice } from './choose-agents.js';
import { settleConsent } from './consent.js';
import { isTyped, readGoal } from './read-goal.js';
import { sayPlan } from './say-plan.js';
import { readLimits, readVerify, refuseContradictions } from './settings.js';
import { readTmuxConfig } from './tmux-config.js';

/** From a goal to its result: everything that needs a person is settled here, then the session runs by itself. */
export async function startGoal(host: CliHost, parsed: Parsed): Promise<number> {
  refuseContradictions(parsed.given);
  const limits = readLimits(parsed);
  const verify = readVerify(parsed);
  const agentOptions = await readAgentOptions(parsed.texts('agent-option'), host);
  const tmuxConfig = await readTmuxConfig(host.env);
  const includeChanges = parsed.isOn('include-changes') ?? false;
  const examined = await host.examineProject(projectFolder(parsed, host), { verify, includeChanges });
  // What is typed in comes last, so that nobody types in vain.
  const ready = isTyped(parsed) && host.terminal.stdinIsTty ? null : await readGoal(parsed, host);
  const choice = await agents(parsed, host);
  checkRequiredOptions(
    [choice.lead, ...choice.workers].map(({ name }) => name),
    agentOptions,
    host.knownAgents(),
  );
  const { goal, warnings } = ready ?? (await readGoal(parsed, host));
  for (const warning of [...warnings, ...choice.warnings]) printWarning(host.terminal, warning);

  const bypass = parsed.isOn('bypass') ?? true;
  await settleConsent(host, examined, { yes: parsed.isOn('yes') ?? false, bypass });
  const leadMayAnswer = parsed.isOn('lead-may-answer') ?? false;
  sayPlan(host, { examined, choice, bypass, leadMayAnswer });
  if (host.terminal.interrupted.aborted) return EXIT.interrupted;
  const showPanes = shallAttach(host, parsed);
  const started = await host.startSession({
    ...planOf({ host, examined, choice, goal, showPanes }),
    agent_options: agentOptions,
    include_changes: includeChanges,
    worker_backend: parsed.isOn('headless') === true ? 'headless' : 'tmux',
    fetch: parsed.isOn('fetch') ?? false,
    apply: parsed.isOn('apply') ?? false,
    kill_tmux: parsed.isOn('kill-tmux') ?? false,
    bypass_permissions: bypass,
    lead_may_answer: leadMayAnswer,
    tmux_user_config: tmuxConfig,
    limits,
  });
  if (started.baseStatement !== examined.baseStatement) host.terminal.err(`${started.baseStatement}\n`);
  return follow(host, started.sessionId, { showPanes, json: parsed.isOn('json') ?? false });
}

function projectFolder(parsed: Parsed, host: CliHost): string {
  const given = parsed.text('project');
  if (given?.trim() === '')
    throw new OrchestratorError('USAGE', {
      problem: '--project is empty',
      hint: 'name the folder of the project',
    });
  return resolve(expandHome(given ?? '.', host.env));
}

async function agents(parsed: Parsed, host: CliHost): Promise<AgentChoice> {
  const names = parsed.given.includes('agents') ? [...new Set(parsed.texts('agents'))] : null;
  const lead = parsed.text('lead') ?? null;
  const detected = await host.detectAgents(names);
  const byName =
    lead === null || names !== null || detected.some(({ name }) => name === lead)
      ? []
      : await host.detectAgents([lead]);
  return chooseAgents([...detected, ...byName], host.knownAgents(), { names, lead });
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
