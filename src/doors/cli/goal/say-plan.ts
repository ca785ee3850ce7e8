import type { FrozenCommand } from '../../../core/events/index.js';
import type { CliHost, ProjectExamination } from '../host.js';
import { printWarning } from '../output/errors.js';
import { createPaint } from '../output/paint.js';
import { table } from '../output/table.js';
import type { AgentChoice } from './choose-agents.js';

/** Says aloud what is about to run: base, agents, commands and where they come from, permissions. */
export function sayPlan(
  host: CliHost,
  plan: { examined: ProjectExamination; choice: AgentChoice; bypass: boolean; leadMayAnswer: boolean },
): void {
  const { examined, choice, bypass, leadMayAnswer } = plan;
  const paint = createPaint(host.terminal, host.env, 'stderr');
  if (examined.verifyGivenUnused)
    printWarning(host.terminal, '--verify is not used: PROJECT.md says how to verify');
  const workers = choice.workers.map(({ name }) => name).join(', ');
  const rows = [
    ['base', examined.baseStatement.replace(/^base:? /, '')],
    ['agents', `${choice.lead.name} leads; workers: ${workers}`],
    ...commands('set up', examined.setupCommands),
    ...commands('verify', examined.verifyCommands),
    ...(examined.verifyCommands.length === 0
      ? [['verify', 'nothing is known: the result will not be verified (see --verify)']]
      : []),
    [
      'prompts',
      bypass
        ? 'permission prompts are off for agents (--no-bypass leaves them on)'
        : 'permission prompts stay on for agents',
    ],
    ...(leadMayAnswer ? [['', 'the lead may answer what its workers ask you for']] : []),
  ];
  host.terminal.err(`${table(rows.map(([name = '', value = '']) => [paint.faint(name), value]))}\n`);
}

function commands(name: string, list: readonly FrozenCommand[]): string[][] {
  return list.map(({ command, source }, index) => [
    index === 0 ? name : '',
    `${command}   (${where(source)})`,
  ]);
}

function where(source: string): string {
  if (source === 'PROJECT.md') return 'PROJECT.md';
  return source.startsWith('--') ? source : `guessed from ${source}`;
}
