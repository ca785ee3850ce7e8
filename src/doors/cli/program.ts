import { EXIT } from '../../core/errors/categories.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { actionOf, LONE_ACTIONS } from './action.js';
import type { Command } from './command.js';
import { COMMANDS } from './commands.js';
import { FLAT_FLAGS } from './flags.js';
import { commandHelp, mainHelp } from './help.js';
import type { CliHost } from './host.js';
import { Interrupted } from './interrupted.js';
import { nearest } from '../../core/nearest.js';
import { createPaint } from './output/paint.js';
import { printError } from './output/errors.js';
import { parseFlags } from './parse.js';

/** One command line from its arguments to its exit code; never throws. */
export async function runProgram(host: CliHost, args: readonly string[]): Promise<number> {
  try {
    return await dispatch(host, args);
  } catch (error) {
    if (error instanceof Interrupted) {
      host.terminal.err('interrupted; nothing was started or changed\n');
      return EXIT.interrupted;
    }
    return printError(host.terminal, error, { json: wantsJson(args) });
  }
}

async function dispatch(host: CliHost, args: readonly string[]): Promise<number> {
  const [first, ...rest] = args;
  if (first === 'help') return help(host, rest[0]);
  if (first === undefined || first.startsWith('-')) return flat(host, args);
  const command = await findCommand(first, rest);
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
    case 'doctor':
      return (await import('./commands/doctor.js')).doctor(host, {
        json,
        fix: parsed.isOn('fix') ?? false,
        yes: parsed.isOn('yes') ?? false,
      });
    case 'list-sessions':
      return (await import('./commands/list-sessions.js')).listSessions(host, { json });
    case 'resume':
      return (await import('./commands/resume.js')).resume(host, parsed);
    case 'manual':
      return (await import('./manual/start-manual.js')).startManual(host, parsed);
    case 'goal':
      return (await import('./goal/start-goal.js')).startGoal(host, parsed);
  }
}

async function help(host: CliHost, name: string | undefined): Promise<number> {
  const paint = createPaint(host.terminal, host.env, 'stdout');
  if (name !== undefined) host.terminal.out(commandHelp(paint, await findCommand(name)));
  else host.terminal.out(mainHelp(paint, await operationCommands()));
  return 0;
}

/** The table of operations is large; commands that are not of it do without. */
async function operationCommands(): Promise<readonly Command[]> {
  return (await import('./operation-commands.js')).OPERATION_COMMANDS;
}

/** Flags that are commands to those who have not read the help. */
const LIKE_COMMANDS = [...LONE_ACTIONS, 'resume'];

async function findCommand(name: string, rest: readonly string[] = []): Promise<Command> {
  const byName = (commands: readonly Command[]) => commands.find((command) => command.name === name);
  const projected = byName(COMMANDS) === undefined ? await operationCommands() : [];
  const command = byName(COMMANDS) ?? byName(projected);
  if (command !== undefined) return command;
  const meant = nearest(
    name,
    [...COMMANDS, ...projected].map((candidate) => candidate.name),
  );
  // Whoever writes a sentence means a goal, with or without quotes.
  const words = [name, ...rest]
    .join(' ')
    .split(' ')
    .filter((word) => !word.startsWith('-'));
  const goal = words.length > 1 ? 'a goal is given with --goal "…"' : 'see agentorchestr --help';
  const flag = LIKE_COMMANDS.find((candidate) => candidate.split('-').includes(name));
  const close = flag === undefined ? meant : `--${[flag, ...rest].join(' ')}`;
  const hint = close === null ? goal : `did you mean: agentorchestr ${close}`;
  throw new OrchestratorError('USAGE', { problem: `unknown command "${name}"`, hint });
}

function refuseExtra(command: Command, positionals: readonly string[]): void {
  if (command.positionals.at(-1)?.endsWith('…') === true) return;
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
