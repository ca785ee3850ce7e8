import { EXIT } from '../../core/errors/categories.js';
import { nearest } from '../../core/nearest.js';
import type { GatewayOperation } from '../../services/gateway/operation.js';
import { shellOf } from '../shared/completion/script.js';
import {
  FORMATS,
  parseFlags,
  readOptions,
  splitGlobals,
  takeGlobals,
  usage,
  type Format,
  type Given,
  type Options,
} from './arguments.js';
import { commandOf, flagsOf, isNamed, type OperationCommand } from './commands.js';
import { DAEMON_COMMANDS, type DaemonCommand } from './daemon.js';
import { helpOf, helpOfCommand, helpOfCompletion, helpOfGroup, helpOfOther, TAIL } from './help.js';
import type { AgentctlHost } from './host.js';
import { readInput, requestOf } from './input.js';
import { printAnswer, printError } from './output.js';
import { askPatiently, isPatient } from './patient.js';
import { tailEvents } from './tail.js';

const CALL_LIMIT_MS = 60_000;
const TAILING = { names: ['events tail'] };
const COMPLETING = { names: ['completion'] };

/** Runs one command line. Resolves with the exit code; throws nothing. */
export async function runAgentctl(
  host: AgentctlHost,
  operations: readonly GatewayOperation[],
  args: readonly string[],
): Promise<number> {
  try {
    return await run(host, operations.map(commandOf), args);
  } catch (error) {
    return printError(host, error, formatOf(args));
  }
}

async function run(
  host: AgentctlHost,
  commands: readonly OperationCommand[],
  args: readonly string[],
): Promise<number> {
  const { globals, rest } = splitGlobals(args);
  const first = parseFlags(globals, {}, 'agentctl');
  if (first.values['version'] === true) return say(host, `agentctl ${host.version}\n`);
  if (rest.length === 0 || rest[0] === 'help' || first.values['help'] === true)
    return say(host, helpOf(commands));
  if (rest[0] === 'completion') return completion(host, rest.slice(1));
  const two = rest.slice(0, 2).join(' ');
  const daemon = DAEMON_COMMANDS.find(({ name }) => isNamed({ names: [name] }, two));
  if (daemon !== undefined) return runDaemon(host, daemon, globals, rest.slice(2));
  const command =
    commands.find((one) => isNamed(one, two)) ?? commands.find((one) => isNamed(one, rest[0] ?? ''));
  if (command === undefined) {
    if (!isNamed(TAILING, two)) return helpOrThrow(host, commands, rest);
    const given = parseFlags([...globals, ...rest.slice(2)], TAIL.flags, 'agentctl events tail');
    if (given.values['help'] === true) return say(host, helpOfOther(TAIL));
    return tailEvents(host, given, readOptions(given, host.env));
  }
  const words = isNamed(command, two) ? 2 : 1;
  const name = `agentctl ${rest.slice(0, words).join(' ')}`;
  const given = parseFlags([...globals, ...rest.slice(words)], flagsOf(command), name);
  if (given.values['help'] === true) return say(host, helpOfCommand(command));
  return runOperation(host, command, given, readOptions(given, host.env));
}

async function completion(host: AgentctlHost, args: readonly string[]): Promise<number> {
  const { values, positionals } = parseFlags(args, {}, 'agentctl completion');
  if (values['help'] === true) return say(host, helpOfCompletion());
  return say(host, await host.completionScript(shellOf(positionals, 'agentctl')));
}

async function runDaemon(
  host: AgentctlHost,
  command: DaemonCommand,
  globals: readonly string[],
  args: readonly string[],
): Promise<number> {
  const taken = takeGlobals(args);
  const given = parseFlags([...globals, ...taken.globals], {}, `agentctl ${command.name}`);
  if (given.values['help'] === true) return say(host, helpOfOther(command));
  return command.run(host, taken.rest, readOptions(given, host.env));
}

async function runOperation(
  host: AgentctlHost,
  command: OperationCommand,
  given: Given,
  options: Options,
): Promise<number> {
  const input = await readInput(command, given, host);
  const limitMs = options.limitMs ?? (command.operation.waits === true ? null : CALL_LIMIT_MS);
  const answer =
    limitMs === null && isPatient(command)
      ? await askPatiently(host, command, { input, ...options })
      : await host.call(options.target, {
          ...requestOf(command, input),
          ...(limitMs === null ? {} : { limitMs }),
        });
  const { version } = answer;
  if (typeof version === 'string' && version !== host.version && !options.quiet)
    host.err(`warning: this agentd is version ${version}, agentctl is ${host.version}: start it again\n`);
  const printed = printAnswer(host, answer, options);
  if (printed !== EXIT.ok) return printed;
  const code = outcome(answer);
  // Whoever asked for one value alone would not learn why there is none.
  if (code === EXIT.endedOtherwise && options.field !== null && !options.quiet)
    host.err(`note: ${endOf(answer)}\n`);
  return code;
}

function helpOrThrow(host: AgentctlHost, commands: readonly OperationCommand[], rest: readonly string[]) {
  const [group = '', flag = ''] = rest;
  const help = ['--help', '-h'].includes(flag) ? helpOfGroup(commands, group) : null;
  if (help === null) throw unknown(commands, rest);
  return say(host, help);
}

function endOf(answer: Readonly<Record<string, unknown>>): string {
  const { state = '', error } = answer['run'] as { state?: string; error?: { message?: string } | null };
  const why = error?.message ?? '';
  return `its run ended as ${state}${why === '' ? '' : `: ${why}`}`;
}

/** Of an answer that says whether its run is done; of every other: ok. */
function outcome(answer: Readonly<Record<string, unknown>>): number {
  if (typeof answer['done'] !== 'boolean') return EXIT.ok;
  if (!answer['done']) return EXIT.goesOn;
  return (answer['run'] as { state?: string } | undefined)?.state === 'succeeded'
    ? EXIT.ok
    : EXIT.endedOtherwise;
}

function unknown(commands: readonly OperationCommand[], [group = '', word = '']: readonly string[]): Error {
  const names = [
    TAILING,
    COMPLETING,
    ...commands,
    ...DAEMON_COMMANDS.map(({ name }) => ({ names: [name] })),
  ].flatMap((command) => command.names);
  const beside = names.filter((name) => isNamed({ names: [name.split(' ')[0] ?? ''] }, group));
  const meant = nearest(`${group} ${word}`.trim(), names);
  return usage(
    `there is no command "${`${group} ${word}`.trim()}"`,
    beside.length > 0
      ? `there is: ${beside.join(', ')}`
      : meant === null
        ? 'see agentctl --help'
        : `did you mean ${meant}?`,
  );
}

function say(host: AgentctlHost, text: string): number {
  host.out(text);
  return EXIT.ok;
}

/** For the error of a line that could not be read. */
function formatOf(args: readonly string[]): Format {
  const at = args.indexOf('--format');
  const given = at === -1 ? args.find((arg) => arg.startsWith('--format='))?.slice(9) : args[at + 1];
  return FORMATS.find((format) => format === given) ?? 'pretty';
}
