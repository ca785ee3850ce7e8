import { EXIT } from '../../core/errors/categories.js';
import { OrchestratorError } from '../../core/errors/error.js';
import type { Operation } from '../../services/operation.js';
import { OPERATIONS } from '../../services/operations/index.js';
import { kebab } from '../shared/projection.js';
import { COMMANDS, type Command } from './commands.js';
import { operationFlags } from './commands/operation-flags.js';
import { runOperation } from './commands/operation.js';
import { FLAT_FLAGS } from './flags.js';
import { actionOf } from './goal/settings.js';
import { commandHelp, mainHelp } from './help.js';
import type { CliHost } from './host.js';
import { Interrupted } from './interrupted.js';
import { nearest } from './nearest.js';
import { createPaint } from './output/paint.js';
import { printError } from './output/errors.js';
import { parseFlags } from './parse.js';

const OPERATION_COMMANDS: readonly Command[] = OPERATIONS.filter(
  (operation) =>
    operation.doors.cli === true && !COMMANDS.some((command) => command.name === kebab(operation.name)),
).map(commandOf);

/** Every word that may stand first. */
export const ALL_COMMANDS: readonly Command[] = [...COMMANDS, ...OPERATION_COMMANDS];

/** One command line from its arguments to its exit code; never throws. */
export async function runProgram(host: CliHost, args: readonly string[]): Promise<number> {
  try {
    return await dispatch(host, args);
  } catch (error) {
    if (error instanceof Interrupted) {
      host.terminal.err('interrupted; nothing was started\n');
      return EXIT.interrupted;
    }
    return printError(host.terminal, error, { json: wantsJson(args) });
  }
}

async function dispatch(host: CliHost, args: readonly string[]): Promise<number> {
  const [first, ...rest] = args;
  if (first === 'help') return help(host, rest[0]);
  if (first === undefined || first.startsWith('-')) return flat(host, args);
  const command = findCommand(first);
  if (wantsHelp(rest)) return help(host, command.name);
  const parsed = parseFlags(rest, command.flags, `agentorchestr ${command.name}`);
  if (COMMANDS.includes(command)) refuseExtra(command, parsed.positionals);
  return command.run(host, parsed);
}

/** The interface without commands: one action, told by flags. */
async function flat(host: CliHost, args: readonly string[]): Promise<number> {
  if (wantsHelp(args)) return help(host, undefined);
  const parsed = parseFlags(args, FLAT_FLAGS, 'agentorchestr');
  const [extra] = parsed.positionals;
  if (extra !== undefined)
    throw new OrchestratorError('USAGE', {
      problem: `unexpected argument "${extra}"`,
      hint: 'texts with spaces need quotes: --goal "Add a test"; commands stand first: agentorchestr status',
    });
  const json = parsed.isOn('json') ?? false;
  switch (actionOf(parsed.given)) {
    case 'version':
      host.terminal.out(
        json
          ? `${JSON.stringify({ name: 'agentorchestr', version: host.version })}\n`
          : `agentorchestr ${host.version}\n`,
      );
      return 0;
    case 'detect':
      return (await import('./commands/detect.js')).detect(host, { json });
    case 'list-sessions':
      return (await import('./commands/list-sessions.js')).listSessions(host, { json });
    case 'goal':
      return (await import('./goal/start-goal.js')).startGoal(host, parsed);
  }
}

function help(host: CliHost, name: string | undefined): number {
  const paint = createPaint(host.terminal, host.env, 'stdout');
  const operations = OPERATIONS.filter((operation) =>
    OPERATION_COMMANDS.some((command) => command.name === kebab(operation.name)),
  );
  host.terminal.out(name === undefined ? mainHelp(paint, operations) : commandHelp(paint, findCommand(name)));
  return 0;
}

function findCommand(name: string): Command {
  const command = ALL_COMMANDS.find((candidate) => candidate.name === name);
  if (command !== undefined) return command;
  const meant = nearest(
    name,
    ALL_COMMANDS.map((candidate) => candidate.name),
  );
  const hint =
    meant !== null
      ? `did you mean: agentorchestr ${meant}`
      : name.includes(' ')
        ? 'a goal is given with --goal "…"'
        : 'see agentorchestr --help';
  throw new OrchestratorError('USAGE', { problem: `unknown command "${name}"`, hint });
}

function commandOf(operation: Operation): Command {
  return {
    name: kebab(operation.name),
    summary: operation.summary,
    positionals: (operation.positional ?? []).map((field) => kebab(field).toUpperCase()),
    flags: operationFlags(operation),
    examples: [],
    run: (host, parsed) => runOperation(host, operation, parsed),
  };
}

function refuseExtra(command: Command, positionals: readonly string[]): void {
  const extra = positionals[command.positionals.length];
  if (extra === undefined) return;
  const takes = command.positionals.length === 0 ? 'no argument' : `one ${command.positionals.join(' ')}`;
  throw new OrchestratorError('USAGE', {
    problem: `unexpected argument "${extra}"`,
    hint: `agentorchestr ${command.name} takes ${takes}`,
  });
}

function beforeDashes(args: readonly string[]): readonly string[] {
  const end = args.indexOf('--');
  return end === -1 ? args : args.slice(0, end);
}

function wantsHelp(args: readonly string[]): boolean {
  return beforeDashes(args).some((arg) => arg === '--help' || arg === '-h');
}

/** Also when the arguments could not be parsed. */
function wantsJson(args: readonly string[]): boolean {
  return beforeDashes(args).includes('--json');
}
