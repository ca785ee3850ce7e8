import { AGENTS, FILES, FOLDERS, oneOf } from '../shared/completion/offers.js';
import { flagName, type FlagRow, type FlagRows } from '../shared/flag-row.js';
import { wrap } from './output/wrap.js';

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

export const LOG_LEVELS = ['error', 'warn', 'info', 'debug'];

/** The flags of agentd, for node's own parser and for the help. */
export const AGENTD_FLAGS = {
  host: { type: 'string', value: 'ADDRESS', summary: 'where it listens (127.0.0.1; AGENTD_HOST)' },
  port: { type: 'string', value: 'N', summary: 'its port (8765; 0: any free one; AGENTD_PORT)' },
  db: {
    type: 'string',
    value: 'FILE',
    offers: FILES,
    summary: 'its database (.data/agent-orchestrator.db; AGENTD_DB)',
  },
  'max-concurrency': {
    type: 'string',
    value: 'N',
    summary: 'how many runs at once (4; AGENTD_MAX_CONCURRENCY)',
  },
  'auth-token': {
    type: 'string',
    multiple: true,
    value: 'T',
    summary:
      'a token that is accepted; may be repeated (AGENTD_AUTH_TOKEN, and AGENTD_AUTH_TOKENS with commas). None: it makes one, in the file that its first line names',
  },
  'insecure-no-auth': { type: 'boolean', summary: 'no token at all; on 127.0.0.1 only' },
  'allow-host': {
    type: 'string',
    multiple: true,
    value: 'NAME',
    summary: 'a name by which this machine is called; may be repeated',
  },
  'default-provider': {
    type: 'string',
    value: 'NAME',
    offers: AGENTS,
    summary: 'the agent of sessions that name none (the first that is installed; AGENTD_DEFAULT_PROVIDER)',
  },
  'default-cwd': {
    type: 'string',
    value: 'FOLDER',
    offers: FOLDERS,
    summary: 'where agents work when a session names no folder (this one; AGENTD_DEFAULT_CWD)',
  },
  'allow-root': {
    type: 'string',
    multiple: true,
    value: 'FOLDER',
    offers: FOLDERS,
    summary: 'agents may work below it too; may be repeated',
  },
  'agent-option': {
    type: 'string',
    multiple: true,
    value: 'A.KEY=V',
    summary: 'a setting of an agent; may be repeated',
  },
  'run-timeout': {
    type: 'string',
    value: 'S',
    summary: 'of a run that names none (3600; 0: none; AGENTD_RUN_TIMEOUT)',
  },
  'idle-timeout': {
    type: 'string',
    value: 'S',
    summary:
      'a run whose agent gives no sign for so long (no output, no call, no CPU time) is ended (0: it is told of as stalled after 600, and goes on; AGENTD_IDLE_TIMEOUT)',
  },
  'max-spawn-depth': {
    type: 'string',
    value: 'N',
    summary: 'how deep sessions may spawn sessions (3; 0: not at all)',
  },
  'max-children': { type: 'string', value: 'N', summary: 'how many of one run work at once (5)' },
  'escalation-ttl': {
    type: 'string',
    value: 'S',
    summary: "a child's request that nobody answers counts as denied then (3600; 0: never)",
  },
  grace: { type: 'string', value: 'S', summary: 'what runs has so long to end when agentd is stopped (30)' },
  check: {
    type: 'boolean',
    summary: 'only say whether it could start with these flags, and what to mend; changes nothing',
  },
  'print-json': { type: 'boolean', summary: 'its first line (or what --check found) as JSON' },
  'log-level': {
    type: 'string',
    value: 'LEVEL',
    offers: oneOf(LOG_LEVELS),
    summary: 'error, warn, info, debug (warn)',
  },
  'log-max-bytes': {
    type: 'string',
    value: 'N',
    summary: 'in the background: when the log is put aside (10000000)',
  },
  'log-keep': { type: 'string', value: 'N', summary: 'and how many of those are kept (5)' },
  help: { type: 'boolean', short: 'h', summary: 'show this help' },
  version: { type: 'boolean', summary: 'print the version' },
} as const satisfies FlagRows;

const HEAD = `agentd: talk to coding agents through one local service that never forgets

  agentd                                     listen on http://127.0.0.1:8765
  agentd --default-provider NAME             the agent of sessions that name none
  agentd --host 192.168.1.5 --auth-token T   other machines too, with that token
`;

const FOOT = `Then:  curl -H "Authorization: Bearer $(cat TOKEN_FILE)" http://127.0.0.1:8765/sessions -X POST
All addresses: http://127.0.0.1:8765/api/docs
`;

const INDENT = 28;
const COLUMNS = 120;

export function agentdHelp(agentFlags: readonly AgentFlag[]): string {
  const own = Object.entries<FlagRow>(AGENTD_FLAGS).map(([name, row]) =>
    line(flagName(name, row), row.summary),
  );
  const ofAgents = agentFlags.map(({ flag, summary, variable, many }) => {
    const notes = [...(many ? ['may be repeated'] : []), ...(variable === null ? [] : [variable])];
    return line(`--${flag} V`, `${summary}${notes.length === 0 ? '' : ` (${notes.join('; ')})`}`);
  });
  return [HEAD, [...own, ...ofAgents, ''].join('\n'), FOOT].join('\n');
}

function line(flag: string, summary: string): string {
  const [first = '', ...more] = wrap(summary, COLUMNS - INDENT);
  return [
    `  ${flag.padEnd(INDENT - 3)} ${first}`,
    ...more.map((text) => `${' '.repeat(INDENT)}${text}`),
  ].join('\n');
}
