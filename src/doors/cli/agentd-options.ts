import { resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { OrchestratorError } from '../../core/errors/error.js';
import { AGENTD_FLAGS, LOG_LEVELS, type AgentFlag } from './agentd-help.js';

export interface AgentdOptions {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly concurrency: number;
  readonly tokens: readonly string[];
  readonly withoutAuth: boolean;
  readonly hostNames: readonly string[];
  readonly provider: string | null;
  readonly folder: string;
  readonly roots: readonly string[];
  readonly agentOptions: Readonly<Record<string, Readonly<Record<string, string>>>>;
  readonly runTimeoutMs: number | null;
  readonly idleTimeoutMs: number | null;
  readonly maxSpawnDepth: number;
  readonly maxChildren: number;
  readonly escalationMs: number | null;
  readonly graceMs: number;
  /** Only look whether it could start. */
  readonly check: boolean;
  readonly printJson: boolean;
  readonly logLevel: string;
  readonly logMaxBytes: number;
  readonly logKeep: number;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `help`, `version`, or what it was started with. Throws USAGE. */
export function readAgentdOptions(
  args: readonly string[],
  env: Environment,
  folder: string,
  agentFlags: readonly AgentFlag[] = [],
): AgentdOptions | 'help' | 'version' {
  const flags = parsed(args, agentFlags);
  if (flags.help === true) return 'help';
  if (flags.version === true) return 'version';
  const text = (flag: string | undefined, variable: string, otherwise: string) =>
    flag ?? (env[variable] === undefined || env[variable] === '' ? otherwise : env[variable]);
  const runTimeoutS = number('run-timeout', text(flags['run-timeout'], 'AGENTD_RUN_TIMEOUT', '3600'), 0);
  const idleTimeoutS = number('idle-timeout', text(flags['idle-timeout'], 'AGENTD_IDLE_TIMEOUT', '0'), 0);
  const escalationS = number('escalation-ttl', flags['escalation-ttl'] ?? '3600', 0);
  const provider = text(flags['default-provider'], 'AGENTD_DEFAULT_PROVIDER', '');
  return {
    host: text(flags.host, 'AGENTD_HOST', '127.0.0.1'),
    port: number('port', text(flags.port, 'AGENTD_PORT', '8765'), 0, 65_535),
    database: text(flags.db, 'AGENTD_DB', '.data/agent-orchestrator.db'),
    concurrency: number(
      'max-concurrency',
      text(flags['max-concurrency'], 'AGENTD_MAX_CONCURRENCY', '4'),
      1,
      1_000,
    ),
    tokens: tokensOf(flags['auth-token'] ?? [], env),
    withoutAuth: flags['insecure-no-auth'] ?? false,
    hostNames: (flags['allow-host'] ?? []).map((name) => name.toLowerCase()),
    provider: provider === '' ? null : provider,
    folder: resolve(folder, text(flags['default-cwd'], 'AGENTD_DEFAULT_CWD', '.')),
    roots: (flags['allow-root'] ?? []).map((root) => resolve(folder, root)),
    agentOptions: agentOptions(flags['agent-option'] ?? [], byFlags(flags, env, agentFlags)),
    runTimeoutMs: runTimeoutS === 0 ? null : runTimeoutS * 1_000,
    idleTimeoutMs: idleTimeoutS === 0 ? null : idleTimeoutS * 1_000,
    maxSpawnDepth: number('max-spawn-depth', flags['max-spawn-depth'] ?? '3', 0, 100),
    maxChildren: number('max-children', flags['max-children'] ?? '5', 1, 1_000),
    escalationMs: escalationS === 0 ? null : escalationS * 1_000,
    graceMs: number('grace', flags.grace ?? '30', 0) * 1_000,
    check: flags.check ?? false,
    printJson: flags['print-json'] ?? false,
    logLevel: level(flags['log-level'] ?? 'warn'),
    logMaxBytes: number('log-max-bytes', flags['log-max-bytes'] ?? '10000000', 1_000, 999_999_999),
    logKeep: number('log-keep', flags['log-keep'] ?? '5', 0, 99),
  };
}

function parsed(args: readonly string[], agentFlags: readonly AgentFlag[]) {
  const own = agentFlags.map(({ flag, many }) => [flag, { type: 'string', multiple: many }] as const);
  // Those of agents are read by their names.
  const options = { ...AGENTD_FLAGS, ...Object.fromEntries(own) } as typeof AGENTD_FLAGS;
  try {
    return parseArgs({ args: [...args], options, strict: true, allowPositionals: false }).values;
  } catch (error) {
    throw usage((error as Error).message);
  }
}

function tokensOf(given: readonly string[], env: Environment): string[] {
  const all = [...given, env['AGENTD_AUTH_TOKEN'] ?? '', ...(env['AGENTD_AUTH_TOKENS'] ?? '').split(',')];
  const tokens = [...new Set(all.map((token) => token.trim()))].filter((token) => token !== '');
  if (tokens.some((token) => /\s/.test(token))) throw usage('a token holds no white space');
  return tokens;
}

function number(name: string, given: string, least: number, most = 31_536_000): number {
  const value = /^\d{1,9}$/.test(given) ? Number(given) : -1;
  if (value >= least && value <= most) return value;
  throw usage(`--${name} takes a whole number from ${least} to ${most}, not "${given}"`);
}

function level(given: string): string {
  if (LOG_LEVELS.includes(given)) return given;
  throw usage(`--log-level takes one of ${LOG_LEVELS.join(', ')}, not "${given}"`);
}

type Options = Record<string, Record<string, string>>;

function byFlags(flags: object, env: Environment, agentFlags: readonly AgentFlag[]): Options {
  const options: Options = {};
  for (const { agent, flag, option, variable } of agentFlags) {
    const given = (flags as Record<string, string | string[] | undefined>)[flag];
    const values = [given ?? (variable === null ? undefined : env[variable]) ?? []].flat();
    if (values.some((value) => value.includes('\n'))) throw usage(`--${flag} takes one line`);
    if (values.length > 0 && values[0] !== '')
      options[agent] = { ...options[agent], [option]: values.join('\n') };
  }
  return options;
}

function agentOptions(given: readonly string[], options: Options): Options {
  for (const one of given) {
    const [, agent = '', key = '', value = ''] = /^([^.=]+)\.([^=]+)=(.*)$/s.exec(one) ?? [];
    if (agent === '') throw usage(`--agent-option takes AGENT.KEY=VALUE, not "${one}"`);
    options[agent] = { ...options[agent], [key]: value };
  }
  return options;
}

function usage(problem: string): OrchestratorError {
  return new OrchestratorError('USAGE', { problem, hint: 'see agentd --help' });
}
