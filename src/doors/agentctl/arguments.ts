import { parseArgs, type ParseArgsConfig } from 'node:util';
import { OrchestratorError } from '../../core/errors/error.js';
import { nearest } from '../../core/nearest.js';
import { oneOf } from '../shared/completion/offers.js';
import type { FlagRows } from '../shared/flag-row.js';
import type { Environment, Target } from './host.js';

export type FlagTable = NonNullable<ParseArgsConfig['options']>;

export interface Given {
  readonly values: Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;
  readonly positionals: readonly string[];
}

export const FORMATS = ['pretty', 'json', 'jsonl', 'text'] as const;
export type Format = (typeof FORMATS)[number];

/** They may stand before or after every command. */
export const GLOBAL_FLAGS = {
  url: { type: 'string', value: 'URL', summary: 'which daemon (http://127.0.0.1:8765; AGENTCTL_URL)' },
  'auth-token': {
    ...{ type: 'string', value: 'T' },
    summary: 'its token (AGENTCTL_AUTH_TOKEN; the one of a daemon on this machine is found)',
  },
  format: {
    ...{ type: 'string', value: 'F', offers: oneOf(FORMATS) },
    summary: 'pretty (JSON with indentation), json (one line), jsonl (a line per thing), text',
  },
  field: {
    ...{ type: 'string', value: 'PATH' },
    summary: 'print only that value: session.id, run.result_text, sessions.0.id; exit 5 where it is absent',
  },
  timeout: { type: 'string', value: 'S', summary: 'of one answer (60; commands that wait: none)' },
  quiet: { type: 'boolean', summary: 'no notes on stderr' },
  help: { type: 'boolean', short: 'h', summary: 'show this help' },
  version: { type: 'boolean', summary: 'print the version' },
} as const satisfies FlagRows;

const DEFAULT_URL = 'http://127.0.0.1:8765';

export interface Options {
  readonly target: Target;
  readonly isUrlGiven: boolean;
  readonly format: Format;
  readonly field: string | null;
  readonly limitMs: number | null;
  readonly quiet: boolean;
}

/** Splits off what stands in front of the command: flags for every command. Throws USAGE. */
export function splitGlobals(args: readonly string[]): { globals: string[]; rest: string[] } {
  const globals: string[] = [];
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    if (!arg.startsWith('-')) return { globals, rest: args.slice(at) };
    globals.push(arg);
    const flag = GLOBAL_FLAGS[arg.slice(2) as keyof typeof GLOBAL_FLAGS];
    if (flag?.type === 'string') globals.push(...args.slice(++at, at + 1));
  }
  return { globals, rest: [] };
}

/** The global flags among `args`, wherever they stand, and the rest as it was: for a command that hands it on. */
export function takeGlobals(args: readonly string[]): { globals: string[]; rest: string[] } {
  const found = { globals: [] as string[], rest: [] as string[] };
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? '';
    const [name = '', value] = arg.startsWith('--') ? arg.slice(2).split('=', 2) : [];
    const flag = GLOBAL_FLAGS[name as keyof typeof GLOBAL_FLAGS];
    if (flag === undefined) found.rest.push(arg);
    else if (flag.type === 'boolean' || value !== undefined) found.globals.push(arg);
    else found.globals.push(arg, ...args.slice(++at, at + 1));
  }
  return found;
}

/** Throws USAGE with the nearest known flag for one that is unknown. */
export function parseFlags(args: readonly string[], flags: FlagTable, command: string): Given {
  try {
    const { values, positionals } = parseArgs({
      ...{ args: [...args], options: { ...flags, ...GLOBAL_FLAGS } },
      ...{ strict: true, allowPositionals: true },
    });
    return { values, positionals };
  } catch (error) {
    const { message } = error as Error;
    const [, unknown] = /^Unknown option '(-[^']+)'/.exec(message) ?? [];
    const names = Object.keys({ ...flags, ...GLOBAL_FLAGS });
    const meant = unknown === undefined ? null : nearest(unknown.replace(/^-+/, ''), names);
    throw usage(
      unknown === undefined ? (message.split('\n')[0] ?? message) : `unknown flag ${unknown}`,
      meant === null
        ? `see ${command} --help; a value that begins with a dash is written --flag=VALUE, a text behind --`
        : `did you mean --${meant}?`,
    );
  }
}

/** Flags win over the environment. Throws USAGE. */
export function readOptions({ values }: Given, env: Environment): Options {
  const text = (flag: keyof typeof GLOBAL_FLAGS, variable?: string) => {
    const value = values[flag] ?? (variable === undefined ? undefined : env[variable]);
    return typeof value === 'string' && value !== '' ? value : null;
  };
  const url = text('url', 'AGENTCTL_URL');
  const format = text('format') ?? 'pretty';
  if (!isFormat(format))
    throw usage(`--format takes one of ${FORMATS.join(', ')}, not "${format}"`, 'see agentctl --help');
  const limit = text('timeout');
  return {
    target: { url: checkedUrl(url ?? DEFAULT_URL), token: text('auth-token', 'AGENTCTL_AUTH_TOKEN') },
    isUrlGiven: url !== null,
    ...{ format, field: text('field'), quiet: values['quiet'] === true },
    limitMs: limit === null ? null : seconds('timeout', limit) * 1_000,
  };
}

export function seconds(flag: string, given: string): number {
  if (/^\d{1,7}(\.\d{1,3})?$/.test(given)) return Number(given);
  throw usage(`--${flag} takes seconds, not "${given}"`, `for example --${flag} 30`);
}

export function usage(problem: string, hint: string): OrchestratorError {
  return new OrchestratorError('USAGE', { problem, hint });
}

function isFormat(given: string): given is Format {
  return (FORMATS as readonly string[]).includes(given);
}

function checkedUrl(given: string): string {
  try {
    const url = new URL(given);
    if (url.protocol === 'http:' || url.protocol === 'https:') return given.replace(/\/+$/, '');
  } catch {
    // Said below, together with other protocols.
  }
  throw usage(`"${given}" is no address of a daemon`, `it looks like ${DEFAULT_URL}`);
}
