import { type CatalogEntry, type ErrorParams, list, nearestOr } from './entry.js';

/** What was named is not there. */
export const NOT_FOUND_ERRORS = {
  NO_SUCH_ADDRESS: {
    category: 'not_found',
    message: (p) => `nothing is at ${p['path']}`,
    hint: () => 'every address is in /openapi.json',
  },
  RUN_NOT_FOUND: {
    category: 'not_found',
    message: (p) => `no run "${p['run']}"`,
    hint: () => 'run.id of the answer to a message is one; the events of its session name every run',
  },
  FILE_NOT_READABLE: {
    category: 'not_found',
    message: (p) => `cannot read ${p['path']}: ${p['problem']}`,
    hint: () => 'check the path; text files must be UTF-8',
  },
  SESSION_NOT_FOUND: {
    category: 'not_found',
    message: (p) => `no session "${p['session']}"`,
    hint: (p) =>
      p['daemon'] === true
        ? 'GET /sessions (agentctl session list) shows those of this daemon'
        : 'agentorchestr --list-sessions shows the last ones',
  },
  NO_SESSIONS: {
    category: 'not_found',
    message: (p) => noSession(p).problem,
    hint: (p) => noSession(p).hint,
  },
  UNKNOWN_WORKER: {
    category: 'not_found',
    message: (p) => `no worker "${p['worker']}" in this session`,
    hint: (p) => (list(p['valid']) === '' ? 'no worker was spawned yet' : `workers are: ${list(p['valid'])}`),
  },
  UNKNOWN_PERSPECTIVE: {
    category: 'not_found',
    message: (p) => `no perspective "${p['perspective']}"`,
    hint: (p) => `perspectives are: ${list(p['valid'])}`,
  },
  UNKNOWN_AGENT: {
    category: 'not_found',
    message: (p) => `no agent "${p['agent']}"`,
    hint: (p) => nearestOr(p['agent'], p['valid'], `agents are: ${list(p['valid'])}`),
  },
  UNKNOWN_OPERATION: {
    category: 'not_found',
    message: (p) => `no operation "${p['operation']}"`,
    hint: () => 'tools/list (MCP) and /openapi.json or /api/operations list them',
  },
  UNKNOWN_VERIFY: {
    category: 'not_found',
    message: (p) => `no verification "${p['verify_id']}"`,
    hint: () => 'call verify without verify_id to start one',
  },
  REF_NOT_FOUND: {
    category: 'not_found',
    message: (p) => `no commit, branch or worker "${p['ref']}" to start from`,
    hint: () => 'base takes a worker id, "integration", or a branch or commit of this repository',
  },
  NOT_SALVAGED: {
    category: 'not_found',
    message: (p) => `nothing is kept as "${p['ref']}"`,
    hint: (p) =>
      list(p['valid']) === ''
        ? 'agentorchestr salvage list shows what is kept'
        : `kept are: ${list(p['valid'])}`,
  },
  NO_DAEMON_LOG: {
    category: 'not_found',
    message: (p) => `there is no log of an agentd at ${p['url']}`,
    hint: () => 'only an agentd that agentctl started has one; others write to their terminal',
  },
} as const satisfies Record<string, CatalogEntry>;

/** `wanted`: what kind of session was looked for; absent: any. */
function noSession({ wanted, elsewhere }: ErrorParams): { problem: string; hint: string } {
  const start = 'start one: agentorchestr --goal "…"';
  const list = 'agentorchestr --list-sessions shows';
  if (wanted === 'running')
    return {
      problem: 'no session is running',
      hint: `${list} the last ones; one whose supervisor died goes on with --resume ID`,
    };
  if (wanted === 'resumable')
    return {
      problem: 'no session of this project can go on',
      hint: elsewhere === true ? `${list} those of other projects; * go on with --resume ID` : start,
    };
  return { problem: 'there is no session yet', hint: start };
}
