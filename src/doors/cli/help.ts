import type { Command } from './command.js';
import { COMMANDS } from './commands.js';
import { ACTION_FLAGS, GOAL_FLAGS, MANUAL_FLAGS, WATCH_FLAGS, type Flag } from './flags.js';
import type { Paint } from './output/paint.js';
import { table } from './output/table.js';

/** What stands without a command. */
export const FLAG_SECTIONS: readonly (readonly [title: string, flags: readonly Flag[]])[] = [
  ['start a goal', GOAL_FLAGS],
  ['one agent, one task', MANUAL_FLAGS],
  ['how it is shown', WATCH_FLAGS],
  ['look around', ACTION_FLAGS],
];

const EXAMPLES = [
  ['agentorchestr demo', 'see it work, with no account'],
  ['agentorchestr --goal "Add --json and tests"', 'a team works in this project'],
  ['agentorchestr --goal-file goal.md --apply', 'and brings the result home'],
  ['agentorchestr --interactive --lead NAME', 'type the goal, choose the lead'],
  ['agentorchestr --goal "…" --yes --json', 'for scripts'],
  ['agentorchestr --manual --task "Fix it"', 'one agent, also without tmux'],
  ['agentorchestr status --watch', 'also: log -f, attach, pause'],
  ['agentorchestr --resume 3f2a', 'go on after a pause or a crash'],
  ['agentorchestr --doctor', 'what is missing, and its fix'],
  ['agentorchestr clean --all-done', 'remove what is left; work is kept'],
] as const;

export function mainHelp(paint: Paint, operations: readonly Command[]): string {
  const section = (title: string, text: string) => `${paint.strong(title)}\n${text}`;
  return `${[
    'One goal in, a team of coding agents in tmux, one verified branch out.',
    section(
      'examples',
      table(
        EXAMPLES.map(([command, what]) => [command, paint.faint(what)]),
        '  ',
      ),
    ),
    ...FLAG_SECTIONS.map(([title, flags]) => section(title, flagTable(flags))),
    section(
      'sessions',
      table(
        COMMANDS.map((command) => [shortUsage(command), command.summary]),
        '  ',
      ),
    ),
    section(
      'what the lead can do, you can do too (--session ID; COMMAND --help)',
      `  ${columns(operations)}`,
    ),
    section('without panes: agents over HTTP', table(PROGRAMS, '  ')),
    section('environment', table(VARIABLES, '  ')),
    section('exit codes', EXIT_CODES),
  ].join('\n\n')}\n`;
}

export const PROGRAMS = [
  ['serve [flags]', 'Sessions, runs and events over REST; also: agentd.'],
  ['gateway COMMAND', 'Talk to it; also: agentctl.'],
];

const VARIABLES = [
  ['AGENTORCHESTR_HOME', 'folder for all that is kept (default: XDG)'],
  ['AGENTORCHESTR_…', 'one per setting: agentorchestr config explain'],
];

const EXIT_CODES = `  0 done · 1 not possible · 2 ended otherwise: failed, paused, timeout
  3 no supervisor · 4 not allowed · 20 it goes on without you · 64 wrong usage
  130 interrupted before anything began`;

export function commandHelp(
  paint: Paint,
  command: Pick<Command, 'name' | 'summary' | 'positionals' | 'flags' | 'examples'>,
): string {
  const examples = command.examples.map(([line, what]) => [line, paint.faint(what)]);
  return `${[
    command.summary,
    `${paint.strong('usage')}\n  agentorchestr ${usage(command)} [flags]`,
    ...(examples.length === 0 ? [] : [`${paint.strong('examples')}\n${table(examples, '  ')}`]),
    `${paint.strong('flags')}\n${flagTable(command.flags)}`,
  ].join('\n\n')}\n`;
}

export function usage(command: Pick<Command, 'name' | 'positionals'>): string {
  return [command.name, ...command.positionals.map((name) => `[${name}]`)].join(' ');
}

/** For one line of many. */
function shortUsage({ name, positionals }: Pick<Command, 'name' | 'positionals'>): string {
  const more = positionals.length > 1 ? ' …' : '';
  return `${usage({ name, positionals: positionals.slice(0, 1) })}${more}`;
}

function flagTable(flags: readonly Flag[]): string {
  return table(
    flags.map((flag) => [flagName(flag), flag.summary]),
    '  ',
  );
}

export function flagName(flag: Flag): string {
  if (flag.shownNegated === true) return `--no-${flag.name}`;
  const name =
    flag.negatable === true && flag.shownPlain !== true
      ? `--${flag.name}, --no-${flag.name}`
      : `--${flag.name}`;
  const value = flag.mayStandAlone === true ? `[${flag.value ?? ''}]` : flag.value;
  return `${flag.short === undefined ? '' : `-${flag.short}, `}${name}${value === undefined ? '' : ` ${value}`}`;
}

function columns(operations: readonly Command[]): string {
  const lines: string[] = [''];
  for (const name of operations.map((command) => command.name)) {
    const last = lines.at(-1) ?? '';
    if (last.length + name.length > 76) lines.push(name);
    else lines[lines.length - 1] = last === '' ? name : `${last}  ${name}`;
  }
  return lines.join('\n  ');
}
