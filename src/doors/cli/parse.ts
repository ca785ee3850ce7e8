import yargs from 'yargs';
import { OrchestratorError } from '../../core/errors/error.js';
import type { Flag } from './flags.js';
import { nearest } from '../../core/nearest.js';

export interface Parsed {
  readonly positionals: readonly string[];
  /** undefined: not given. */
  isOn(name: string): boolean | undefined;
  text(name: string): string | undefined;
  texts(name: string): readonly string[];
  /** Names of the flags that were given, `--no-x` as `no-x`. */
  readonly given: readonly string[];
}

/** Parses the arguments of one command. Throws USAGE with the nearest known name for what is unknown. */
export function parseFlags(args: readonly string[], flags: readonly Flag[], command: string): Parsed {
  checkSwitches(args, flags);
  checkEmptyValues(args, flags);
  const parsed = runYargs(args, flags, command);
  const values = new Map<string, unknown>();
  for (const flag of flags) {
    const value = parsed[flag.name];
    if (value !== undefined) values.set(flag.name, checked(flag, value));
  }
  return {
    positionals: parsed._.map(String),
    isOn: (name) => values.get(name) as boolean | undefined,
    text: (name) => values.get(name) as string | undefined,
    texts: (name) => (values.get(name) as string[] | undefined) ?? [],
    given: [...values].map(([name, value]) => (value === false ? `no-${name}` : name)),
  };
}

function runYargs(
  args: readonly string[],
  flags: readonly Flag[],
  command: string,
): { _: (string | number)[]; [name: string]: unknown } {
  const parser = yargs([...args])
    .detectLocale(false)
    .help(false)
    .version(false)
    .exitProcess(false)
    .showHelpOnFail(false)
    .parserConfiguration({
      'camel-case-expansion': false,
      'dot-notation': false,
      'parse-numbers': false,
      'parse-positional-numbers': false,
      'strip-aliased': true,
      'boolean-negation': flags.some((flag) => flag.negatable === true),
    })
    // Not strict(): it takes every positional for an unknown command; commands are told apart before this.
    .strictOptions()
    .fail((message, error) => {
      // yargs' own words have no hint and name a flag without its dashes.
      throw error instanceof OrchestratorError ? error : usageOf(message ?? error.message, flags, command);
    });
  for (const flag of flags) {
    const alias = flag.short === undefined ? {} : { alias: flag.short };
    if (flag.kind === 'switch') parser.option(flag.name, { type: 'boolean', ...alias });
    else if (flag.kind === 'list')
      parser.option(flag.name, { type: 'string', array: true, requiresArg: true, ...alias });
    else if (flag.mayStandAlone === true) parser.option(flag.name, { type: 'string', ...alias });
    else parser.option(flag.name, { type: 'string', nargs: 1, ...alias });
  }
  return parser.parseSync();
}

function usageOf(message: string, flags: readonly Flag[], command: string): OrchestratorError {
  const unknown = /^Unknown arguments?: (.+)$/.exec(message)?.[1]?.split(', ')[0];
  if (unknown !== undefined) return unknownFlag(unknown, flags, command);
  const [, name] = /^Not enough arguments following: (.+)$/.exec(message) ?? [];
  const flag = flags.find((known) => known.name === name);
  if (flag !== undefined) return valueMissing(flag);
  return new OrchestratorError('USAGE', {
    problem: message.split('\n')[0] ?? message,
    hint: `see ${command} --help`,
  });
}

function unknownFlag(name: string, flags: readonly Flag[], command: string): OrchestratorError {
  const typed = `${name.length === 1 ? '-' : '--'}${name}`;
  const names = flags.flatMap((flag) =>
    flag.negatable === true ? [flag.name, `no-${flag.name}`] : [flag.name],
  );
  const meant = nearest(name, names);
  return new OrchestratorError('USAGE', {
    problem: `unknown flag ${typed}`,
    hint: meant === null ? `see ${command} --help` : `did you mean --${meant}?`,
  });
}

function valueMissing(flag: Flag): OrchestratorError {
  return new OrchestratorError('USAGE', {
    problem: `--${flag.name} needs a value`,
    hint: `write --${flag.name} ${flag.value ?? 'VALUE'} (--${flag.name}=VALUE when it begins with a dash)`,
  });
}

/** yargs takes `--yes=maybe` for false, and of `--attach --no-attach` the last. */
function checkSwitches(args: readonly string[], flags: readonly Flag[]): void {
  const seen = new Map<string, boolean>();
  for (const arg of args) {
    if (arg === '--') return;
    const [, negation, name = '', value] = /^--(no-)?([^=]+)(?:=(.*))?$/s.exec(arg) ?? [];
    const flag = flags.find((known) => known.name === name && known.kind === 'switch');
    if (flag === undefined) continue;
    if (value !== undefined) throw switchValue(flag, arg, value);
    if (seen.get(name) === (negation !== undefined))
      throw new OrchestratorError('USAGE', {
        problem: `--${name} and --no-${name} contradict each other`,
        hint: 'give it once',
      });
    seen.set(name, negation === undefined);
  }
}

/** An empty value, of a variable that is not set most often, is not the same as none. */
function checkEmptyValues(args: readonly string[], flags: readonly Flag[]): void {
  for (const flag of flags.filter(({ mayStandAlone }) => mayStandAlone === true)) {
    const typed = `--${flag.name}`;
    if (args.includes(`${typed}=`) || args.some((arg, index) => arg === '' && args[index - 1] === typed))
      throw valueMissing(flag);
  }
}

function switchValue(flag: Flag, arg: string, value: string): OrchestratorError {
  const hint =
    flag.negatable === true && flag.shownPlain !== true
      ? `write --${flag.name} or --no-${flag.name}`
      : `write --${flag.name}, or leave it out`;
  return new OrchestratorError('USAGE', {
    problem: `${arg.slice(0, arg.indexOf('='))} takes no value (got "${value}")`,
    hint,
  });
}

function checked(flag: Flag, value: unknown): unknown {
  const several = Array.isArray(value);
  if (flag.kind === 'texts') return several ? value : [value];
  if (flag.kind === 'list') {
    const names = (value as string[]).flatMap((text) => text.split(',')).filter((text) => text !== '');
    if (names.length === 0) throw valueMissing(flag);
    return names;
  }
  if (several)
    throw new OrchestratorError('USAGE', {
      problem: `--${flag.name} is given more than once`,
      hint: 'give it once',
    });
  if (value === false && flag.negatable !== true)
    throw new OrchestratorError('USAGE', {
      problem: `unknown flag --no-${flag.name}`,
      hint: `leave --${flag.name} out instead`,
    });
  return value;
}
