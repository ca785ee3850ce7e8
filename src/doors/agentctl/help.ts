import { kebab } from '../shared/projection.js';
import { isList, isNumber, isRecord, isSwitch, type OperationCommand, type Property } from './commands.js';
import { DAEMON_COMMANDS } from './daemon.js';
import { usageLine } from './input.js';

const GLOBALS = `Before or after the command:
  --url URL          which daemon (http://127.0.0.1:8765; AGENTCTL_URL)
  --auth-token T     its token (AGENTCTL_AUTH_TOKEN; the one of a daemon on this machine is found)
  --format F         pretty (JSON with indentation), json (one line), jsonl (a line per thing), text
  --field PATH       print only that value: session.id, run.result_text, sessions.0.id; exit 5 where it is absent
  --timeout S        of one answer (60; commands that wait: none)
  --quiet            no notes on stderr

Exit: 0 done, run succeeded · 1 refused · 2 the run ended otherwise · 3 no daemon, or a stale one · 4 no valid token
      5 --field absent · 20 still going (the wait is over, or the run waits for somebody) · 64 wrong usage
`;

const EXAMPLES = `  agentctl daemon start --default-provider NAME
  SESSION=$(agentctl --field session.id session create --title "first")
  RUN=$(agentctl --field run.id message send $SESSION "say hello")
  agentctl --field run.result_text run wait $RUN --timeout-s 600
  agentctl events tail $SESSION --follow --until-idle
`;

const TAIL = 'agentctl events tail SESSION_ID [--follow]';
const TAIL_HELP = `${TAIL}: Print events, a line of JSON each: the last 20, or those after a cursor.

  --cursor C       those after it (0: all; latest: only new ones)
  --limit N        how many of the last ones, without a cursor (20)
  --type NAME      only these; may be repeated (--types A,B)
  --run-id ID      only of this run
  --follow, -f     go on with what comes, over restarts of the daemon, without gap or repetition
  --until-idle     go on until no run of the session is left
`;

export function helpOf(commands: readonly OperationCommand[]): string {
  const lines: (readonly [string, string])[] = [
    ...DAEMON_COMMANDS.map(({ usage, summary }) => [usage, summary] as const),
    ...commands.map((command) => [usageLine(command), command.operation.summary] as const),
    [TAIL, 'Print events, and with --follow those to come.'],
  ];
  const shown = lines.map(([line, summary]) => `  ${line.replace(/^agentctl /, '').padEnd(38)} ${summary}`);
  return `agentctl: talk to coding agents through agentd

${EXAMPLES}
Commands (agentctl COMMAND --help tells more):
${shown.join('\n')}

${GLOBALS}`;
}

export function helpOfCommand(command: OperationCommand): string {
  const flags = Object.entries(command.properties).map(([field, property]) =>
    `  ${`--${kebab(field)}${valueOf(property)}`.padEnd(28)} ${summaryOf(property)}`.trimEnd(),
  );
  const others = command.names.slice(1).map((name) => `agentctl ${name}`);
  return [
    `${usageLine(command)}: ${command.operation.summary}`,
    ...(others.length === 0 ? [] : [`also: ${others.join(', ')}`]),
    '',
    ...flags,
    ...('text' in command.properties ? ['', 'A text of - is read from standard input.'] : []),
    '',
    GLOBALS,
  ].join('\n');
}

export function helpOfOther(name: string): string {
  const daemon = DAEMON_COMMANDS.find((command) => command.name === name);
  const own = daemon === undefined ? TAIL_HELP : `${daemon.usage}: ${daemon.summary}\n`;
  return `${own}\n${GLOBALS}`;
}

function valueOf(property: Property): string {
  if (isSwitch(property)) return '';
  if (isRecord(property)) return ' KEY=VALUE';
  return ` ${property.enum?.join('|') ?? property.const ?? (isNumber(property) ? 'N' : 'TEXT')}`;
}

function summaryOf(property: Property): string {
  const several = isList(property) || isRecord(property);
  const plain = typeof property.default === 'string' || typeof property.default === 'number';
  const shown = plain && property.default !== '' ? `(default: ${property.default})` : '';
  return [property.description ?? (several ? 'may be repeated' : ''), shown]
    .filter((part) => part !== '')
    .join(' ');
}
