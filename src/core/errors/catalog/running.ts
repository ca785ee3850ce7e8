import type { CatalogEntry } from './entry.js';

/** What goes wrong while things run: limits, time, agents, and what is not there to answer. */
export const RUNNING_ERRORS = {
  // limit
  TOO_MANY_CHILDREN: {
    category: 'limit',
    message: (p) => `run ${p['run']} has ${p['active']} children at work; ${p['max']} are allowed`,
    hint: () => 'wait for one of them to end, or start agentd with another --max-children',
  },
  LIMIT_REACHED: {
    category: 'limit',
    message: (p) => `limit reached: ${p['limit']} (${p['value']} of ${p['max']})`,
    hint: (p) =>
      String(p['hint'] ?? 'wait for a worker to end, integrate it, or kill one you no longer need'),
  },
  // timeout
  TIMED_OUT: {
    category: 'timeout',
    message: (p) => `${p['what']} did not happen within ${p['limit_ms']} ms`,
    hint: (p) => String(p['hint'] ?? 'see the supervisor log in the session directory'),
  },
  ANSWER_UNCONFIRMED: {
    category: 'timeout',
    message: (p) => `the answer was given to worker ${p['worker']}, but its prompt did not go away`,
    hint: () => 'look at its pane (agentorchestr attach) before it is answered again',
  },
  AGENT_NOT_READY: {
    category: 'timeout',
    message: (p) => `${p['agent']} did not become ready within ${p['limit_ms']} ms`,
    hint: () => 'look at its pane: it may be at a login or trust screen',
  },
  // agent
  AGENT_EXITED: {
    category: 'agent',
    message: (p) => `${p['agent']} ended (${p['status']}) ${p['when']}`,
    hint: () => 'its last screen is in read_worker_output; a missing login is the usual cause',
  },
  MODEL_LOGIN: {
    category: 'agent',
    message: (p) => `${p['provider']} does not accept the key: ${p['problem']}`,
    hint: () => 'agentctl daemon preflight names the variable that holds it; start agentd again with another',
  },
  MODEL_LIMITED: {
    category: 'agent',
    message: (p) =>
      `${p['provider']} has no room (rate limit) after ${p['tries']} tries: ${p['problem']}${p['wait_s'] === undefined ? '' : `; it says to wait ${p['wait_s']} s`}`,
    hint: () => 'say it again later',
  },
  MODEL_REFUSED: {
    category: 'agent',
    message: (p) => `${p['provider']} refused what ${p['model']} was asked: ${p['problem']}`,
    hint: () => 'its model and address are options: --agent-option PROVIDER.model=NAME, PROVIDER.url=URL',
  },
  MODEL_UNAVAILABLE: {
    category: 'agent',
    message: (p) => `${p['provider']} could not be asked, in ${p['tries']} tries: ${p['problem']}`,
    hint: () => 'look whether its address can be reached from this machine, and say it again',
  },
  MODEL_BROKEN_OFF: {
    category: 'agent',
    message: (p) => `${p['provider']} broke off in its answer: ${p['problem']}`,
    hint: () => 'what it said so far is in the events; say it again, or ask it to go on',
  },
  // unavailable
  SUPERVISOR_NOT_RUNNING: {
    category: 'unavailable',
    message: (p) => `session ${p['session']} has no running supervisor`,
    hint: (p) => `see what it left: agentorchestr status ${p['session']}`,
  },
  SUPERVISOR_FAILED: {
    category: 'unavailable',
    message: (p) => `the supervisor ended before the session was ready: ${p['problem']}`,
    hint: (p) => `its log: ${p['log']}`,
  },
  TMUX_LOST: {
    category: 'unavailable',
    message: () => 'the tmux server of this session is gone',
    hint: () => 'all its agents ended with it; their work is in their worktrees',
  },
  SHUTTING_DOWN: {
    category: 'unavailable',
    message: () => 'the session is ending',
    hint: () => 'nothing more is needed',
  },
  DAEMON_UNREACHABLE: {
    category: 'unavailable',
    message: (p) => `no agentd answers at ${p['url']}: ${p['problem']}`,
    hint: () => 'start one with agentctl daemon start, or name another with --url',
  },
  DAEMON_STALE: {
    category: 'unavailable',
    message: (p) => `the agentd of ${p['url']} is stale: its process ${p['pid']} is dead`,
    hint: (p) =>
      `start it again, with the flags that it had; what it kept is there: agentctl daemon start --db ${p['database']}`,
  },
  DAEMON_NOT_STARTED: {
    category: 'unavailable',
    message: (p) => `agentd ended before it was ready: ${p['problem']}`,
    hint: (p) => `its log: ${p['log']}`,
  },
  STORE_UNAVAILABLE: {
    category: 'unavailable',
    message: (p) => `the database ${p['path']} cannot be used: ${p['problem']}`,
    hint: (p) => String(p['hint'] ?? 'check disk space and permissions'),
  },
  INTERNAL: {
    category: 'internal',
    message: (p) => `unexpected: ${p['detail']}`,
    hint: () => 'this is a fault of agentorchestr; the log has the details',
  },
} as const satisfies Record<string, CatalogEntry>;
