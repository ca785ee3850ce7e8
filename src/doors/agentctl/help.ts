import { installLines } from '../shared/completion/script.js';
import { flagName, type FlagRow, type FlagRows } from '../shared/flag-row.js';
import { isList, isNumber, isRecord, isSwitch, kebab, type Property } from '../shared/projection.js';
import { GLOBAL_FLAGS } from './arguments.js';
import type { OperationCommand } from './commands.js';
import { DAEMON_COMMANDS, type DaemonCommand } from './daemon.js';
import { usageLine } from './input.js';
import { TAIL_FLAGS } from './tail.js';

const COLUMN = 28;

const GLOBALS = `Before or after the command:
${flagLines(GLOBAL_FLAGS)}

Exit: 0 done, run succeeded · 1 refused · 2 the run ended otherwise · 3 no daemon, or a stale one · 4 not allowed (token, folder)
      5 --field absent · 20 still going (the wait is over, or the run waits for somebody) · 64 wrong usage
`;

const EXAMPLES = `  agentctl daemon start --default-provider NAME
  SESSION=$(agentctl --field session.id session create --title "first")
  RUN=$(agentctl --field run.id message send $SESSION "say hello")
  agentctl --field run.result_text run wait $RUN --timeout-s 600
  agentctl events tail $SESSION --follow --until-idle
`;

export const TAIL = {
  usage: 'agentctl events tail SESSION_ID [--follow]',
  summary:
    'Print events, a line of JSON each: the last 20, or those after a cursor; with --follow those to come.',
  flags: TAIL_FLAGS,
};

export const COMPLETION = {
  usage: 'agentctl completion SHELL',
  summary: 'Print what bash, zsh or fish needs to complete commands, flags and ids.',
  flags: {},
};

export function helpOf(commands: readonly OperationCommand[]): string {
  return `agentctl: talk to coding agents through agentd

${EXAMPLES}
Commands (agentctl COMMAND --help tells more):
${linesOf(commands).join('\n')}

${GLOBALS}`;
}

/** `agentctl run --help`: of all commands that begin so. null: there are none. */
export function helpOfGroup(commands: readonly OperationCommand[], group: string): string | null {
  const plain = group.replace(/s$/, '');
  const lines = linesOf(commands).filter((line) => /^ {2}(\S+?)s? \S/.exec(line)?.[1] === plain);
  if (lines.length === 0) return null;
  return `Commands (agentctl COMMAND --help tells more):\n${lines.join('\n')}\n\n${GLOBALS}`;
}

function linesOf(commands: readonly OperationCommand[]): string[] {
  const lines: (readonly [string, string])[] = [
    ...DAEMON_COMMANDS.map(({ usage, summary }) => [usage, summary] as const),
    ...commands.map((command) => [usageLine(command), command.operation.summary] as const),
    ...[TAIL, COMPLETION].map(({ usage, summary }) => [usage, summary] as const),
  ];
  return lines.map(([line, summary]) => `  ${line.replace(/^agentctl /, '').padEnd(38)} ${summary}`);
}

export function helpOfCommand(command: OperationCommand): string {
  const others = command.names.slice(1).map((name) => `agentctl ${name}`);
  return [
    `${usageLine(command)}: ${command.operation.summary}`,
    ...(others.length === 0 ? [] : [`also: ${others.join(', ')}`]),
    '',
    flagLines(rowsOf(command)),
    ...('text' in command.properties ? ['', 'A text of - is read from standard input.'] : []),
    '',
    GLOBALS,
  ].join('\n');
}

export function helpOfCompletion(): string {
  const lines = installLines('agentctl').map(([line, what]) => `  ${line.padEnd(COLUMN + 12)} ${what}`);
  return `${COMPLETION.usage}: ${COMPLETION.summary}\n\nSo that every new shell has it:\n${lines.join('\n')}\n`;
}

export function helpOfOther({
  usage,
  summary,
  flags,
}: Pick<DaemonCommand, 'usage' | 'summary' | 'flags'>): string {
  const own = Object.keys(flags).length === 0 ? '' : `${flagLines(flags)}\n\n`;
  return `${usage}: ${summary}\n\n${own}${GLOBALS}`;
}

/** The fields of an operation as they are shown. */
export function rowsOf({ properties }: OperationCommand): FlagRows {
  return Object.fromEntries(
    Object.entries(properties).map(([field, property]): [string, FlagRow] => {
      const value = valueOf(property);
      const type = value === null ? 'boolean' : 'string';
      return [kebab(field), { type, summary: summaryOf(property), ...(value === null ? {} : { value }) }];
    }),
  );
}

function flagLines(flags: FlagRows): string {
  return Object.entries(flags)
    .map(([name, row]) => `  ${flagName(name, row).padEnd(COLUMN)} ${row.summary}`.trimEnd())
    .join('\n');
}

/** null: it takes none. */
function valueOf(property: Property): string | null {
  if (isSwitch(property)) return null;
  if (isRecord(property)) return 'KEY=VALUE';
  return property.enum?.join('|') ?? property.const ?? (isNumber(property) ? 'N' : 'TEXT');
}

function summaryOf(property: Property): string {
  const several = isList(property) || isRecord(property);
  const plain = typeof property.default === 'string' || typeof property.default === 'number';
  const shown = plain && property.default !== '' ? `(default: ${property.default})` : '';
  return [property.description ?? (several ? 'may be repeated' : ''), shown]
    .filter((part) => part !== '')
    .join(' ');
}
