import type { FrozenCommand } from '../../../core/events/index.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { CliHost, ProjectExamination } from '../host.js';

export interface ConsentOptions {
  /** `--yes`. */
  readonly yes: boolean;
  readonly bypass: boolean;
}

/**
 * Settles trust in the project and consent to its commands before anything runs: asked on a terminal, answered by
 * `--yes`, refused otherwise. Throws PROJECT_NOT_TRUSTED, COMMANDS_NOT_CONSENTED.
 */
export async function settleConsent(
  host: CliHost,
  examined: ProjectExamination,
  options: ConsentOptions,
): Promise<void> {
  const { project, consentNeeded } = examined;
  if (!examined.trusted) {
    const prompts = options.bypass ? 'with their permission prompts off' : 'with their permission prompts on';
    host.terminal.err(
      `First time in ${project}.\nAgents will read, change and run things there as you, ${prompts}.\n`,
    );
    if (!(await agrees(host, 'Trust this project?', options)))
      throw new OrchestratorError('PROJECT_NOT_TRUSTED', { project });
    await host.trustProject(project);
  }
  if (consentNeeded.length === 0) return;
  host.terminal.err(
    `These commands come from the project's own files and will be run as they stand:\n${listed(consentNeeded)}\n`,
  );
  if (!(await agrees(host, 'Run them?', options)))
    throw new OrchestratorError('COMMANDS_NOT_CONSENTED', {
      commands: consentNeeded.map(({ command }) => command),
    });
  await host.consentToCommands(project, consentNeeded);
}

async function agrees(host: CliHost, question: string, options: ConsentOptions): Promise<boolean> {
  const { terminal } = host;
  if (options.yes) {
    terminal.err(`${question} yes (--yes)\n`);
    return true;
  }
  if (!terminal.stdinIsTty) return false;
  for (;;) {
    const answer = (await terminal.ask(`${question} [y/N] `))?.trim().toLowerCase();
    if (answer === 'y' || answer === 'yes') return true;
    if (answer === undefined || answer === '' || answer === 'n' || answer === 'no') return false;
    terminal.err('Please answer y or n.\n');
  }
}

function listed(commands: readonly FrozenCommand[]): string {
  return commands.map(({ command, source }) => `  ${command}   (${source})`).join('\n');
}
