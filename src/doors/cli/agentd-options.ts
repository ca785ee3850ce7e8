import { parseArgs, type ParseArgsConfig } from 'node:util';
import { OrchestratorError } from '../../core/errors/error.js';

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

/** A flag of its own that sets an option of one agent; the agents say which there are. */
export interface AgentFlag {
  readonly agent: string;
  readonly flag: string;
  readonly option: string;
  readonly variable: string | null;
  /** It may be repeated: a value a line. */
  readonly many: boolean;
  readonly summary: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

const FLAGS = {
  host: { type: 'string' },
  port: { type: 'string' },
  db: { type: 'string' },
  'max-concurrency': { type: 'string' },
  'auth-token': { type: 'string', multiple: true },
  'insecure-no-auth': { type: 'boolean' },
  'allow-host': { type: 'string', multiple: true },
  'default-provider': { type: 'string' },
  'default-cwd': { type: 'string' },
  'allow-root': { type: 'string', multiple: true },
  'agent-option': { type: 'string', multiple: true },
  'run-timeout': { type: 'string' },
  'idle-timeout': { type: 'string' },
  'max-spawn-depth': { type: 'string' },
  'max-children': { type: 'string' },
  'escalation-ttl': { type: 'string' },
  grace: { type: 'string' },
  check: { type: 'boolean' },
  'print-json': { type: 'boolean' },
  'log-level': { type: 'string' },
  'log-max-bytes': { type: 'string' },
  'log-keep': { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const satisfies ParseArgsConfig['options'];

const HELP = `agentd: talk to coding agents through one local service that never forgets

  agentd                                     listen on http://127.0.0.1:8765
  agentd --default-provider NAME             the agent of sessions that name none
  agentd --host 192.168.1.5 --auth-token T   other machines too, with that token

  --host ADDRESS            where it listens (127.0.0.1; AGENTD_HOST)
  --port N                  (8765; 0: any free one; AGENTD_PORT)
  --db FILE                 its database (.data/agent-orchestrator.db; AGENTD_DB)
  --max-concurrency N       how many runs at once (4; AGENTD_MAX_CONCURRENCY)
  --auth-token T            a token that is accepted; may be repeated (AGENTD_AUTH_TOKEN, and AGENTD_AUTH_TOKENS
                            with commas). None: it makes one, in the file that its first line names
  --insecure-no-auth        no token at all; on 127.0.0.1 only
  --allow-host NAME         a name by which this machine is called; may be repeated
  --default-provider NAME   (the first that is installed; AGENTD_DEFAULT_PROVIDER)
  --default-cwd FOLDER      where agents work when a session names no folder (this one; AGENTD_DEFAULT_CWD)
  --allow-root FOLDER       agents may work below it too; may be repeated
  --agent-option A.KEY=V    a setting of an agent; may be repeated
  --run-timeout S           of a run that names none (3600; 0: none; AGENTD_RUN_TIMEOUT)
  --idle-timeout S          a run whose agent gives no sign for so long (no output, no call, no CPU time) is ended (0:
                            it is told of as stalled after 600, and goes on; AGENTD_IDLE_TIMEOUT)
  --max-spawn-depth N       how deep sessions may spawn sessions (3; 0: not at all)
  --max-children N          how many of one run work at once (5)
  --escalation-ttl S        a child's request that nobody answers counts as denied then (3600; 0: never)
  --grace S                 what runs has so long to end when agentd is stopped (30)
  --check                   only say whether it could start with these flags, and what to mend; changes nothing
  --print-json              its first line (or what --check found) as JSON
  --log-level LEVEL         error, warn, info, debug (warn)
  --log-max-bytes N         in the background: when the log is put aside (10000000)
  --log-keep N              and how many of those are kept (5)
{agent flags}
Then:  curl -H "Authorization: Bearer $(cat TOKEN_FILE)" http://127.0.0.1:8765/sessions -X POST
All addresses: http://127.0.0.1:8765/api/docs
`;

export function agentdHelp(agentFlags: readonly AgentFlag[]): string {
  const lines = agentFlags.map(({ flag, summary, variable, many }) => {
    const notes = [...(many ? ['may be repeated'] : []), ...(variable === null ? [] : [variable])];
    return `  ${`--${flag} V`.padEnd(25)} ${summary}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}\n`;
  });
  return HELP.replace('{agent flags}', lines.join(''));
}

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
    folder: text(flags['default-cwd'], 'AGENTD_DEFAULT_CWD', folder),
    roots: flags['allow-root'] ?? [],
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
  const options = { ...FLAGS, ...Object.fromEntries(own) } as typeof FLAGS;
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

const LEVELS = ['error', 'warn', 'info', 'debug'];

function level(given: string): string {
  if (LEVELS.includes(given)) return given;
  throw usage(`--log-level takes one of ${LEVELS.join(', ')}, not "${given}"`);
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
