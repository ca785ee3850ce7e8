import type { Category } from './categories.js';

export type ErrorParams = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface CatalogEntry {
  readonly category: Category;
  readonly message: (p: ErrorParams) => string;
  readonly hint?: (p: ErrorParams) => string;
  /** Only where one status differs from its category's (401, 413, 422). */
  readonly http?: number;
}

const list = (value: ErrorParams[string]) => (Array.isArray(value) ? value.join(', ') : String(value ?? ''));

const TEXT_MOST = 400;
/** A text of many lines in a message of one. */
const flat = (value: ErrorParams[string]) => {
  const line = list(value)
    .trim()
    .replace(/\s*\n\s*/g, ' / ');
  return line.length > TEXT_MOST ? `${line.slice(0, TEXT_MOST)}…` : line;
};

/** Every failure that a user or an agent can cause or fix. Adding one: one entry here (docs/reference/errors.md is generated). */
export const CATALOG = {
  // usage
  INVALID_INPUT: {
    category: 'usage',
    http: 422,
    message: (p) =>
      `${p['field'] === undefined ? 'the input' : `"${p['field']}"`} is not valid: ${p['problem']}`,
    hint: (p) => (p['hint'] === undefined ? 'correct the value and call again' : String(p['hint'])),
  },
  USAGE: {
    category: 'usage',
    message: (p) => String(p['problem']),
    hint: (p) => (p['hint'] === undefined ? 'see agentorchestr --help' : String(p['hint'])),
  },
  SETTINGS_INVALID: {
    category: 'usage',
    message: (p) => `${p['where']}: ${p['problem']}`,
    hint: (p) => String(p['hint'] ?? 'agentorchestr config list shows every key'),
  },
  NO_SUCH_CHOICE: {
    category: 'usage',
    message: (p) => `what worker ${p['worker']} waits with does not take ${p['given']}`,
    hint: (p) =>
      list(p['valid']) === '' ? 'it takes a text' : `it takes one of its choices: ${list(p['valid'])}`,
  },
  GOAL_MISSING: {
    category: 'usage',
    message: () => 'no goal given',
    hint: () => 'give one with --goal "…", --goal-file FILE, or --interactive on a terminal',
  },
  GOAL_TOO_LARGE: {
    category: 'usage',
    message: (p) => `the goal is ${p['bytes']} bytes; the limit is ${p['limit']}`,
    hint: () => 'put the long part into a file of the project and name that file in the goal',
  },
  NOT_A_TTY: {
    category: 'usage',
    message: (p) => `${p['what']} needs a terminal`,
    hint: (p) => String(p['hint'] ?? 'run it in a terminal'),
  },
  BODY_TOO_LARGE: {
    category: 'usage',
    http: 413,
    message: (p) => `the body is larger than ${p['limit']} bytes`,
    hint: () => 'send large text as a file and name its path',
  },
  INVALID_JSON: {
    category: 'usage',
    message: (p) => `the body is not JSON: ${p['problem']}`,
    hint: () => 'send one JSON object, or no body at all',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    category: 'usage',
    http: 415,
    message: (p) => `a body of type "${p['type']}" is not accepted`,
    hint: () => 'send it with content-type: application/json',
  },
  INVALID_CURSOR: {
    category: 'usage',
    message: (p) => `"${p['cursor']}" is no cursor here`,
    hint: (p) => `take the cursor from an answer or an event; ${p['valid']}`,
  },
  METHOD_NOT_ALLOWED: {
    category: 'usage',
    http: 405,
    message: (p) => `${p['path']} does not take ${p['method']}`,
    hint: (p) => `it takes: ${list(p['allowed'])}`,
  },
  // not found
  NO_SUCH_ADDRESS: {
    category: 'not_found',
    message: (p) => `nothing is at ${p['path']}`,
    hint: () => 'every address is in /openapi.json',
  },
  RUN_NOT_FOUND: {
    category: 'not_found',
    message: (p) => `no run "${p['run']}"`,
    hint: () => 'the events of its session name every run',
  },
  FILE_NOT_READABLE: {
    category: 'not_found',
    message: (p) => `cannot read ${p['path']}: ${p['problem']}`,
    hint: () => 'check the path; text files must be UTF-8',
  },
  SESSION_NOT_FOUND: {
    category: 'not_found',
    message: (p) => `no session "${p['session']}"`,
    hint: () => 'agentorchestr --list-sessions shows the last ones',
  },
  NO_SESSIONS: {
    category: 'not_found',
    message: (p) => (p['running'] === true ? 'no session is running' : 'there is no session yet'),
    hint: (p) =>
      p['running'] === true
        ? 'agentorchestr --list-sessions shows the last ones; one whose supervisor died goes on with --resume ID'
        : 'start one: agentorchestr --goal "…"',
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
    hint: (p) => `agents are: ${list(p['valid'])}`,
  },
  UNKNOWN_OPERATION: {
    category: 'not_found',
    message: (p) => `no operation "${p['operation']}"`,
    hint: () => 'GET /api/operations lists them',
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
  // conflict
  IDEMPOTENCY_KEY_REUSED: {
    category: 'conflict',
    message: (p) => `idempotency key "${p['key']}" was used with other input`,
    hint: () => 'use a new key for new input; the same key replays the first answer',
  },
  WORKER_NOT_RUNNING: {
    category: 'conflict',
    message: (p) => `worker ${p['worker']} is ${p['state']}; nothing can be sent to it`,
    hint: () => 'spawn a new worker, with base set to this worker to go on from its branch',
  },
  SESSION_ENDED: {
    category: 'conflict',
    message: (p) => `session ${p['session']} has ended (${p['state']})`,
    hint: (p) =>
      p['state'] === 'archived' ? 'begin another session' : 'end your turn: nothing more is needed',
  },
  SESSION_AMBIGUOUS: {
    category: 'conflict',
    message: (p) => `"${p['session']}" is the beginning of more than one session: ${list(p['matches'])}`,
    hint: () => 'give more of its id',
  },
  SESSION_OWNED: {
    category: 'conflict',
    message: (p) => `session ${p['session']} is owned by process ${p['pid']}`,
    hint: (p) => `attach to it with: agentorchestr attach ${p['session']}`,
  },
  THREAD_IN_USE: {
    category: 'conflict',
    message: (p) => `the conversation ${p['thread']} of ${p['worker']} is in use by ${p['other']}`,
    hint: () => 'a conversation has one writer: end the other one, or give the task to a new worker',
  },
  BRANCH_IN_USE: {
    category: 'conflict',
    message: (p) => `branch ${p['branch']} exists already and is not ours`,
    hint: () => 'rename or delete that branch; agentorchestr never reuses or resets a branch it did not make',
  },
  RUN_ALREADY_ENDED: {
    category: 'conflict',
    message: (p) => `run ${p['run']} has already ended (${p['state']})`,
  },
  NOTHING_TO_ANSWER: {
    category: 'conflict',
    message: (p) => `worker ${p['worker']} has no open run`,
    hint: () => 'reports are taken once per instruction; wait for the next one',
  },
  NOTHING_WAITS: {
    category: 'conflict',
    message: (p) => `worker ${p['worker']} waits for no answer (any more)`,
    hint: () => 'agentorchestr attention (list_attention) shows what waits',
  },
  PROMPT_CHANGED: {
    category: 'conflict',
    message: (p) =>
      `worker ${p['worker']} waits with another prompt now, nothing was answered: ${flat(p['text'])}`,
    hint: (p) =>
      `read it; its prompt hash is ${p['prompt_hash']}, ${list(p['choices']) === '' ? 'it takes a text' : `its choices are: ${list(p['choices'])}`}`,
  },
  SESSION_NOT_OVER: {
    category: 'conflict',
    message: (p) => `session ${p['session']} is ${p['state']}: ${p['problem']}`,
    hint: (p) => String(p['hint'] ?? `see it: agentorchestr status ${p['session']}`),
  },
  // precondition
  RESTORE_IN_THE_WAY: {
    category: 'precondition',
    message: (p) => `nothing was restored, it would overwrite what is in ${p['path']}: ${list(p['files'])}`,
    hint: () => 'give a folder that is empty or not there yet: --to DIR, or a new branch: --branch NAME',
  },
  NOTHING_TO_MERGE: {
    category: 'precondition',
    message: (p) => `session ${p['session']} has nothing to merge: nothing was integrated`,
    hint: (p) =>
      `see what its workers did: agentorchestr status ${p['session']}; work that was kept: agentorchestr salvage list ${p['session']}`,
  },
  GOAL_NOT_REACHED: {
    category: 'precondition',
    message: (p) => `session ${p['session']} is ${p['state']}: its goal was not reached, nothing was merged`,
    hint: (p) =>
      `what was integrated by then is on ${p['branch']}; bring it home all the same: agentorchestr merge ${p['session']} --anyway`,
  },
  NOT_ANSWERABLE: {
    category: 'precondition',
    message: (p) => `what worker ${p['worker']} waits with was not answered: ${p['problem']}`,
    hint: () => 'answer it in its pane: agentorchestr attach',
  },
  NOT_A_PROJECT: {
    category: 'precondition',
    message: (p) => `${p['path']} cannot be used as a project: ${p['problem']}`,
    hint: (p) => String(p['hint'] ?? 'give the folder of the project with --project DIR'),
  },
  NO_COMMITS: {
    category: 'precondition',
    message: (p) => `${p['path']} is a git repository without commits`,
    hint: () => 'make a first commit: git add -A && git commit -m "first commit"',
  },
  GIT_FAILED: {
    category: 'precondition',
    message: (p) => `git ${p['command']} failed: ${p['problem']}`,
    hint: (p) =>
      String(p['hint'] ?? "the message above is git's own; agentorchestr --doctor checks the set-up"),
  },
  GIT_MISSING: {
    category: 'precondition',
    message: () => 'git is not installed',
    hint: () => 'Debian and Ubuntu: sudo apt-get install git · macOS: xcode-select --install',
  },
  TMUX_MISSING: {
    category: 'precondition',
    message: () => 'tmux is not installed',
    hint: () => 'Debian and Ubuntu: sudo apt-get install tmux · macOS: brew install tmux',
  },
  TMUX_FAILED: {
    category: 'precondition',
    message: (p) => `tmux ${p['command']} failed: ${p['problem']}`,
    hint: () => 'tmux 3.0 or newer is needed; see the supervisor log in the session directory',
  },
  NO_AGENTS: {
    category: 'precondition',
    message: (p) =>
      list(p['wanted']) === ''
        ? 'no coding agent was found on PATH'
        : `none of these agents was found on PATH: ${list(p['wanted'])}`,
    hint: () =>
      'install one (agentorchestr --detect shows what is looked for), or try the built-in one: agentorchestr demo',
  },
  AGENT_NOT_LAUNCHABLE: {
    category: 'precondition',
    message: (p) => `${p['agent']} is detected but cannot be started by this version`,
    hint: (p) => `agents that can be started: ${list(p['valid'])}`,
  },
  AGENT_NEEDS_TMUX: {
    category: 'precondition',
    message: (p) => `${p['agent']} can only be started in a pane, and tmux is not installed`,
    hint: (p) =>
      `install tmux (agentorchestr --doctor says how)${list(p['valid']) === '' ? '' : `, or take one of: ${list(p['valid'])}`}`,
  },
  LEAD_CONFLICT: {
    category: 'precondition',
    message: (p) => `--lead ${p['lead']} is not among --agents ${list(p['agents'])}`,
    hint: () => 'add it to --agents, or choose another lead',
  },
  LEAD_WITHOUT_MCP: {
    category: 'precondition',
    message: (p) => `${p['lead']} cannot be lead: it has no MCP support`,
    hint: (p) => `agents that can lead: ${list(p['valid'])}`,
  },
  PANES_GONE: {
    category: 'precondition',
    message: (p) => `session ${p['session']} has no panes: its tmux server is gone`,
    hint: (p) => `see what it came to: agentorchestr status ${p['session']}`,
  },
  SESSION_NOT_RESUMABLE: {
    category: 'precondition',
    message: (p) => `session ${p['session']} cannot be taken up again: ${p['problem']}`,
    hint: (p) =>
      String(p['hint'] ?? `all work is in worktrees and branches: agentorchestr status ${p['session']}`),
  },
  WORKER_DIRTY: {
    category: 'precondition',
    message: (p) => `worker ${p['worker']} has uncommitted changes: ${list(p['files'])}`,
    hint: () => 'send the worker a message to commit, or call again with commit:true',
  },
  WORKER_BUSY: {
    category: 'precondition',
    message: (p) => `worker ${p['worker']} is still ${p['state']}`,
    hint: (p) =>
      p['state'] === 'waiting'
        ? 'it waits for an answer: give it with send_to_worker (or agentorchestr answer), or kill_worker'
        : 'wait_for_worker first, or kill_worker',
  },
  WORKER_READ_ONLY: {
    category: 'precondition',
    message: (p) => `${p['worker']} (${p['perspective']}) may not change the result`,
    hint: () => 'its findings are in its summary and output; give a fix to an implementer',
  },
  INTEGRATION_DIRTY: {
    category: 'precondition',
    message: (p) => `the integration worktree has uncommitted changes: ${list(p['files'])}`,
    hint: () =>
      'the lead does not edit code: move the change into a worker, then clean the integration worktree with git',
  },
  VERIFICATION_MISSING: {
    category: 'precondition',
    message: (p) => `the goal cannot be marked done: ${p['problem']}`,
    hint: (p) =>
      String(
        p['hint'] ??
          'call verify, and when it passes mark_goal_done; force:true with force_reason overrides and is recorded',
      ),
  },
  WORKERS_NOT_INTEGRATED: {
    category: 'precondition',
    message: (p) => `the goal cannot be marked done: not integrated: ${list(p['workers'])}`,
    hint: () => 'integrate_worker each of them, or give discard:[{worker, reason}]',
  },
  WORKERS_RUNNING: {
    category: 'precondition',
    message: (p) => `the goal cannot be marked done while workers run: ${list(p['workers'])}`,
    hint: () => 'wait_for_worker or kill_worker first',
  },
  CHECKOUT_NOT_SAFE: {
    category: 'precondition',
    message: (p) => `the result was not applied to your checkout: ${p['problem']}`,
    hint: (p) => `when you are ready: ${p['command']}`,
  },
  WORKTREE_INVALID: {
    category: 'precondition',
    message: (p) => `the new worktree ${p['path']} is not usable: ${p['problem']}`,
    hint: () => 'nothing was started; what this attempt made was removed again',
  },
  REPORT_INCOMPLETE: {
    category: 'precondition',
    message: (p) => `not accepted yet: ${p['problem']}`,
    hint: () => 'commit what belongs to the task and report again; the second report is accepted as it is',
  },
  DAEMON_RUNNING: {
    category: 'precondition',
    message: (p) => `${p['path']} is in use by an agentd that runs (process ${p['pid']})`,
    hint: () => 'use that one, stop it first, or give another database with --db',
  },
  PORT_IN_USE: {
    category: 'precondition',
    message: (p) => `${p['host']}:${p['port']} is taken by ${p['by']}`,
    hint: () => 'give another port with --port',
  },
  SPAWN_FAILED: {
    category: 'precondition',
    message: (p) => `worker ${p['worker']} could not be started: ${p['problem']}`,
    hint: () => 'its branch and folder were removed again; fix the cause and spawn again',
  },
  // denied
  UNAUTHENTICATED: {
    category: 'denied',
    http: 401,
    message: () => 'a valid bearer token is required',
    hint: () =>
      "a session's token is in its control file, a daemon's in the file that its first line names (0600): both are read by our own commands",
  },
  FORBIDDEN: {
    category: 'denied',
    message: (p) => `this token (${p['scope']}) may not call ${p['operation']}`,
    hint: (p) => `allowed: ${list(p['allowed'])}`,
  },
  FORBIDDEN_ORIGIN: {
    category: 'denied',
    message: (p) => `requests with ${p['header']} "${p['value']}" are refused`,
    hint: () => "only this machine's own programs may call this port",
  },
  PROJECT_NOT_TRUSTED: {
    category: 'denied',
    message: (p) => `${p['project']} is not a trusted project yet`,
    hint: () => 'agents run there on their own: run once on a terminal and answer yes, or pass --yes',
  },
  COMMANDS_NOT_CONSENTED: {
    category: 'denied',
    message: (p) => `commands from the project's files need your consent: ${list(p['commands'])}`,
    hint: () => 'run once on a terminal and answer yes, or pass --yes',
  },
  LEAD_MAY_NOT_ANSWER: {
    category: 'denied',
    message: (p) => `${p['operation']} is for the person: the lead was not allowed to answer for them`,
    hint: () =>
      'leave it to the person, who is told; a session started with --lead-may-answer lets the lead do it',
  },
  UNSAFE_DIRECTORY: {
    category: 'denied',
    message: (p) => `${p['path']} is not safe to use: ${p['problem']}`,
    hint: () => 'remove it, or set TMPDIR to a private folder',
  },
  FOLDER_NOT_ALLOWED: {
    category: 'denied',
    message: (p) => `agents may not work in ${p['path']}`,
    hint: (p) => `allowed are: ${list(p['allowed'])}; start agentd with --allow-root for others`,
  },
  TOKEN_REQUIRED: {
    category: 'denied',
    message: (p) => `${p['host']} can be reached from other machines, and no token was given`,
    hint: () => 'give one with --auth-token or AGENTD_AUTH_TOKEN, or listen on 127.0.0.1',
  },
  // limit
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
    hint: () => 'start it again: agentctl daemon start; what it kept is in its database',
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

export type ErrorCode = keyof typeof CATALOG;
