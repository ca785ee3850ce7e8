import { originWords, valueWords } from '../../../config/explain.js';
import type { Resolved } from '../../../config/load.js';
import type { FrozenCommand } from '../../../core/events/index.js';
import type { CliHost } from '../host.js';
import { printWarning } from '../output/errors.js';
import { createPaint } from '../output/paint.js';
import { sessionInWords } from '../output/session-in-words.js';
import { table } from '../output/table.js';
import type { Examined } from './examine.js';

const MOST_OTHERS = 3;

/** Says aloud what is about to run: base, agents, commands and where they come from, permissions. */
export function sayPlan(
  host: CliHost,
  plan: {
    examined: Examined;
    /** Who does what. */
    agents: string;
    bypass: boolean;
    leadMayAnswer: boolean;
    settings: readonly Resolved[];
  },
): void {
  const { examined, agents, bypass, leadMayAnswer, settings } = plan;
  const paint = createPaint(host.terminal, host.env, 'stderr');
  if (examined.verifyGivenUnused)
    printWarning(host.terminal, '--verify is not used: PROJECT.md says how to verify');
  const rows = [
    ['base', examined.baseStatement.replace(/^base:? /, '')],
    ...(examined.leavesChangesOut ? [['', 'to start from them too: --include-changes']] : []),
    ...alsoHere(examined.others),
    ['agents', agents],
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
    ...kept(settings, host.env['HOME']),
  ];
  host.terminal.err(`${table(rows.map(([name = '', value = '']) => [paint.faint(name), value]))}\n`);
}

/** Each begins at its own base: neither sees what the other does until somebody merges. */
function alsoHere(others: Examined['others']): string[][] {
  if (others.length === 0) return [];
  const rows = others.slice(0, MOST_OTHERS).map(sessionInWords);
  if (others.length > rows.length) rows.push(`and ${others.length - rows.length} more`);
  rows.push('this one begins anew, apart from it; to go on with one: --resume ID');
  return rows.map((row, index) => [index === 0 ? 'also here' : '', row]);
}

function commands(name: string, list: readonly FrozenCommand[]): string[][] {
  return list.map(({ command, source }, index) => [
    index === 0 ? name : '',
    `${command}   (${where(source)})`,
  ]);
}

/** What was set before and not on this command line: nobody shall wonder why it is so. */
function kept(settings: readonly Resolved[], home: string | undefined): string[][] {
  return settings
    .filter(({ origin }) => origin.from !== 'default' && origin.from !== 'flag')
    .map(({ key, value, origin }, index) => [
      index === 0 ? 'settings' : '',
      `${key} = ${valueWords(value)}   (${originWords(origin, home)})`,
    ]);
}

function where(source: string): string {
  if (source === 'PROJECT.md') return 'PROJECT.md';
  return source.startsWith('--') || source.startsWith('set in ') ? source : `guessed from ${source}`;
}
