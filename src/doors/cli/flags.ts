import { AGENTS, FILES, FOLDERS, RESUMABLE, type Offer } from '../shared/completion/offers.js';

/**
 * `switch` takes no value (and `--no-x` where `negatable`), `text` one, `texts` one each time it is repeated, `list`
 * everything up to the next flag.
 */
export interface Flag {
  readonly name: string;
  readonly kind: 'switch' | 'text' | 'texts' | 'list';
  /** What stands for the value in the help. */
  readonly value?: string;
  /** Of `text`: it may stand alone, and is '' then. */
  readonly mayStandAlone?: boolean;
  readonly short?: string;
  readonly summary: string;
  /** For completion, of its value; absent: what `value` says. */
  readonly offers?: Offer;
  readonly negatable?: boolean;
  /** Only `--no-x` is meant for people; `--x` is the default. */
  readonly shownNegated?: boolean;
  /** `--no-x` is there to beat a setting alone. */
  readonly shownPlain?: boolean;
}

export const JSON_FLAG: Flag = {
  name: 'json',
  kind: 'switch',
  summary: 'print one JSON document and nothing else',
};
export const HELP_FLAG: Flag = { name: 'help', kind: 'switch', short: 'h', summary: 'show this help' };

/** Off is the default, unless it was set otherwise. */
const BEATS = { negatable: true, shownPlain: true } as const;

export const GOAL_FLAGS: readonly Flag[] = [
  { name: 'goal', kind: 'text', value: 'TEXT', summary: 'what is to be reached' },
  {
    name: 'goal-file',
    kind: 'text',
    value: 'FILE',
    summary: 'read the goal from a UTF-8 file',
    offers: FILES,
  },
  { name: 'interactive', kind: 'switch', summary: 'type the goal; ends at /end or two blank lines' },
  {
    name: 'project',
    kind: 'text',
    value: 'DIR',
    summary: 'folder of the project (default: this one)',
    offers: FOLDERS,
  },
  { name: 'agents', kind: 'list', value: 'NAME…', summary: 'only these agents', offers: AGENTS },
  { name: 'lead', kind: 'text', value: 'NAME', summary: 'this agent leads', offers: AGENTS },
  {
    name: 'agent-option',
    kind: 'texts',
    value: 'NAME.KEY=VALUE',
    summary: 'a setting of one agent',
  },
  {
    name: 'verify',
    kind: 'texts',
    value: 'CMD',
    summary: 'how to verify, where PROJECT.md says nothing',
  },
  { name: 'include-changes', kind: 'switch', ...BEATS, summary: 'start from your uncommitted changes too' },
  { name: 'fetch', kind: 'switch', ...BEATS, summary: 'fetch before the base is chosen' },
  { name: 'apply', kind: 'switch', ...BEATS, summary: 'bring the result into your checkout, if safe' },
  {
    name: 'headless',
    kind: 'switch',
    ...BEATS,
    summary: 'run workers without a terminal of their own',
  },
  { name: 'max-workers', kind: 'text', value: 'N', summary: 'workers at one time, 1 to 64 (default: 8)' },
  { name: 'session-timeout', kind: 'text', value: 'SECONDS', summary: 'end the session after this time' },
  { name: 'run-timeout', kind: 'text', value: 'SECONDS', summary: 'end a task of a worker after this time' },
  {
    name: 'stall-after',
    kind: 'text',
    value: 'SECONDS',
    summary: 'tell of agents that are silent for so long',
  },
  {
    name: 'bypass',
    kind: 'switch',
    negatable: true,
    shownNegated: true,
    summary: 'leave the permission prompts of the agents on',
  },
  {
    name: 'lead-may-answer',
    kind: 'switch',
    ...BEATS,
    summary: 'let the lead answer prompts of workers',
  },
];

/** Manual mode, which takes most of the flags of a goal as well. */
export const MANUAL_FLAGS: readonly Flag[] = [
  { name: 'manual', kind: 'switch', summary: 'one agent does one task in its own worktree; nobody leads' },
  { name: 'task', kind: 'text', value: 'TEXT', summary: 'what it is to do' },
  {
    name: 'agent',
    kind: 'text',
    value: 'NAME',
    summary: 'which agent does it (default: the first found)',
    offers: AGENTS,
  },
];

export const WATCH_FLAGS: readonly Flag[] = [
  {
    name: 'attach',
    kind: 'switch',
    negatable: true,
    summary: 'show the panes, or only heartbeat and summary',
  },
  { name: 'kill-tmux', kind: 'switch', summary: 'close the panes at the end (default: keep them)' },
  {
    name: 'tmux-cleanup',
    kind: 'switch',
    negatable: true,
    shownNegated: true,
    summary: 'keep the panes at the end, as is the default',
  },
  { name: 'yes', kind: 'switch', summary: 'trust the project and its commands without being asked' },
  JSON_FLAG,
];

const RESUME_FLAG: Flag = {
  name: 'resume',
  kind: 'text',
  value: 'ID',
  mayStandAlone: true,
  summary: 'go on with a session; --goal adds to its goal',
  offers: RESUMABLE,
};

export const ACTION_FLAGS: readonly Flag[] = [
  RESUME_FLAG,
  { name: 'detect', kind: 'switch', summary: 'show the agents found, providers and tools' },
  { name: 'doctor', kind: 'switch', summary: 'check everything a session needs; says how to fix it' },
  {
    name: 'fix',
    kind: 'switch',
    summary: 'with --doctor: mend what is ours and dead; asks, unless --yes',
  },
  {
    name: 'list-sessions',
    kind: 'switch',
    summary: 'show the last 20 sessions; * can be resumed',
  },
  { name: 'version', kind: 'switch', summary: 'print the version' },
  HELP_FLAG,
];

/** Those that beat a setting for one session: `config explain` tells what would hold with them. */
export const SETTING_FLAGS: readonly Flag[] = [...GOAL_FLAGS, ...WATCH_FLAGS].filter(({ name }) =>
  [
    'agents',
    'lead',
    'verify',
    'include-changes',
    'fetch',
    'apply',
    'headless',
    'max-workers',
    'session-timeout',
    'run-timeout',
    'stall-after',
    'bypass',
    'lead-may-answer',
    'kill-tmux',
    'tmux-cleanup',
  ].includes(name),
);

export const FLAT_FLAGS: readonly Flag[] = [...GOAL_FLAGS, ...MANUAL_FLAGS, ...WATCH_FLAGS, ...ACTION_FLAGS];
