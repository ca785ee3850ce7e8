import { list, type CatalogEntry } from './entry.js';

/** It cannot be done as things stand. */
export const PRECONDITION_ERRORS = {
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
    hint: (p) =>
      list(p['valid']) === ''
        ? 'install one (agentorchestr --detect shows what is looked for); without one: docs/guides/scripted-agent.md'
        : `install ${list(p['valid'])}, and log in once; to see it work without one: agentorchestr demo`,
  },
  AGENT_NOT_LAUNCHABLE: {
    category: 'precondition',
    message: (p) => `${p['agent']} is detected but cannot be started by this version`,
    hint: (p) => `agents that can be started: ${list(p['valid'])}`,
  },
  AGENT_OPTION_MISSING: {
    category: 'precondition',
    message: (p) => `${p['agent']} needs its ${p['option']}: ${p['summary']}`,
    hint: (p) => `start agentd with --agent-option ${p['agent']}.${p['option']}=${p['value']}`,
  },
  AGENT_KEY_MISSING: {
    category: 'precondition',
    message: (p) => `${p['agent']} needs its key, and ${p['variable']} is not set where agentd runs`,
    hint: (p) =>
      `export ${p['variable']}=… and start agentd again: agentctl daemon stop, agentctl daemon start`,
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
    message: (p) =>
      `${p['path']} is in use by an agentd that runs (process ${p['pid']}${p['url'] === undefined ? '' : ` at ${p['url']}`})`,
    hint: () => 'use that one, stop it first, or give another database with --db',
  },
  FOLDER_NOT_MADE: {
    category: 'precondition',
    message: (p) => `the folder ${p['path']} cannot be made: ${p['problem']}`,
    hint: () => 'check owner and mode of the folder above it, or name another place',
  },
  DAEMON_NOT_OURS: {
    category: 'precondition',
    message: (p) => `an agentd answers at ${p['url']}, and nothing here says which process it is`,
    hint: () =>
      'it was started by another user, with another XDG_STATE_HOME, or its file was removed: send its process TERM',
  },
  PORT_IN_USE: {
    category: 'precondition',
    message: (p) => `${p['host']}:${p['port']} is taken by ${p['by']}`,
    hint: () => 'give another port with --port',
  },
  PORT_NOT_OPENED: {
    category: 'precondition',
    message: (p) => `${p['host']}:${p['port']} cannot be listened on (${p['code']})`,
    hint: (p) =>
      p['code'] === 'EACCES'
        ? 'ports below 1024 are for the administrator: give another one with --port'
        : 'name an address of this machine with --host',
  },
  SPAWN_FAILED: {
    category: 'precondition',
    message: (p) => `worker ${p['worker']} could not be started: ${p['problem']}`,
    hint: () => 'its branch and folder were removed again; fix the cause and spawn again',
  },
  NO_PARENT_SESSION: {
    category: 'precondition',
    message: (p) => `run ${p['run']} is of a session that has no parent`,
    hint: () => 'only a session that another one spawned can reply to its parent',
  },
  RUN_NOT_AT_WORK: {
    category: 'precondition',
    message: (p) => `run ${p['run']} is ${p['state']}: it cannot ask anything`,
    hint: () => 'only a run that has begun and is not over waits for an answer',
  },
  SPAWN_DEPTH_EXCEEDED: {
    category: 'precondition',
    message: (p) => `a child would be ${p['depth']} levels deep; ${p['max']} are allowed`,
    hint: () => 'do the work here, or start agentd with another --max-spawn-depth',
  },
} as const satisfies Record<string, CatalogEntry>;
