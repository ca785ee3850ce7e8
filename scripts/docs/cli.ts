import { AGENTS } from '../../src/agents/registry.js';
import { commandOf } from '../../src/doors/agentctl/commands.js';
import { GLOBAL_FLAGS } from '../../src/doors/agentctl/arguments.js';
import { DAEMON_COMMANDS } from '../../src/doors/agentctl/daemon.js';
import { rowsOf, TAIL } from '../../src/doors/agentctl/help.js';
import { usageLine } from '../../src/doors/agentctl/input.js';
import { AGENTD_FLAGS } from '../../src/doors/cli/agentd-help.js';
import type { Command } from '../../src/doors/cli/command.js';
import type { Flag } from '../../src/doors/cli/flags.js';
import { flagName, FLAG_SECTIONS, PROGRAMS, usage } from '../../src/doors/cli/help.js';
import { ALL_COMMANDS } from '../../src/doors/cli/operation-commands.js';
import { flagName as rowName, type FlagRows } from '../../src/doors/shared/flag-row.js';
import { agentFlags } from '../../src/main/agentd-flags.js';
import { GATEWAY_OPERATIONS } from '../../src/services/gateway/operations/index.js';
import { code, GENERATED, page, table } from './markdown.js';

export function cliPage(): string {
  return page(
    '# Command line',
    GENERATED,
    'Three programs. Each says the same of itself with `--help`, and each command with `COMMAND --help`. Exit codes are the same for all: [errors](errors.md#exit-codes).',
    '## agentorchestr',
    'Without a command, flags say what is to be done; without `--resume` and the like, that is a goal.',
    ...FLAG_SECTIONS.flatMap(([title, flags]) => [`### ${capital(title)}`, flagTable(flags)]),
    ...ALL_COMMANDS.flatMap(commandSection),
    '### Programs of their own',
    table(
      ['command', 'does'],
      PROGRAMS.map(([command = '', what = '']) => [code(`agentorchestr ${command}`), what]),
    ),
    '## agentctl',
    'Talks to agentd. These flags stand before or after every command:',
    rowTable(GLOBAL_FLAGS),
    ...DAEMON_COMMANDS.flatMap((command) => agentctlSection(command)),
    ...GATEWAY_OPERATIONS.map(commandOf).flatMap((command) =>
      agentctlSection({
        usage: usageLine(command),
        summary: command.operation.summary,
        flags: rowsOf(command),
        others: command.names.slice(1),
      }),
    ),
    ...agentctlSection(TAIL),
    '## agentd',
    'Runs until it is stopped; `agentorchestr serve` is the same.',
    rowTable(AGENTD_FLAGS),
    'What agents add:',
    table(
      ['flag', 'agent', 'meaning', 'environment variable'],
      agentFlags(AGENTS).map(({ flag, agent, summary, variable, many }) => [
        code(`--${flag} V`),
        agent,
        many ? `${summary}; may be repeated` : summary,
        variable === null ? 'none' : code(variable),
      ]),
    ),
  );
}

function commandSection(command: Command): string[] {
  return [
    `### agentorchestr ${command.name}`,
    command.summary,
    code(`agentorchestr ${usage(command)}`),
    flagTable(command.flags),
    ...(command.examples.length === 0
      ? []
      : [
          table(
            ['example', 'what it does'],
            command.examples.map(([line, what]) => [code(line), what]),
          ),
        ]),
  ];
}

interface AgentctlCommand {
  readonly usage: string;
  readonly summary: string;
  readonly flags: FlagRows;
  readonly others?: readonly string[];
}

function agentctlSection({ usage: line, summary, flags, others = [] }: AgentctlCommand): string[] {
  const also = others.map((name) => code(`agentctl ${name}`)).join(', ');
  return [
    `### ${line.split(/ (?=[A-Z[]|--)/)[0] ?? line}`,
    summary,
    `${code(line)}${also === '' ? '' : `; also ${also}`}`,
    ...(Object.keys(flags).length === 0 ? [] : [rowTable(flags)]),
  ];
}

const flagTable = (flags: readonly Flag[]): string =>
  table(
    ['flag', 'meaning'],
    flags.map((flag) => [code(flagName(flag)), flag.summary]),
  );

const rowTable = (flags: FlagRows): string =>
  table(
    ['flag', 'meaning'],
    Object.entries(flags).map(([name, row]) => [code(rowName(name, row)), row.summary]),
  );

const capital = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
