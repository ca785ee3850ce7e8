import { isTerminalRun, type Executor, type RunState } from '../../../core/state/states.js';
import { isFault, type ProviderFault } from '../provider-fault.js';

/** What is known of a run, as plain data: what is wrong with it follows from this alone. */
export interface Situation {
  readonly state: RunState;
  readonly executor: Executor;
  readonly ageS: number;
  /** 1: the next one; null: it is not queued. */
  readonly queuePosition: number | null;
  readonly aliveWorkers: number;
  readonly busyWorkers: number;
  readonly maxConcurrency: number;
  readonly workerId: string | null;
  readonly workerAlive: boolean | null;
  readonly pid: number | null;
  /** null: no process of it is known. */
  readonly pidAlive: boolean | null;
  /** The process that its session belongs to where that is another one. */
  readonly otherOwner: number | null;
  /** The run of its session that is before it. */
  readonly behind: string | null;
  /** It asks its parent, and is not answered yet. */
  readonly asksParent: boolean;
  /** Runs that it asked for and that are not over. */
  readonly openChildren: number;
  readonly openTool: { readonly name: string; readonly forS: number } | null;
  readonly quietS: number;
  readonly waitingText: string | null;
  readonly failureCode: string | null;
  /** What it ended with, and the last words of its process. */
  readonly words: string;
  readonly hasThread: boolean;
}

export const LIKELY_ISSUES = [
  ...['none', 'external', 'worker_pool_dead', 'stale_daemon_run', 'waiting_for_session_turn'],
  ...['queue_backlog', 'queued_unclaimed', 'awaiting_parent', 'awaiting_answer', 'worker_dead'],
  ...['process_missing', 'awaiting_children', 'tool_running_long', 'no_output', 'provider_not_found'],
  ...['resume_thread_missing', 'provider_auth', 'rate_limited', 'context_overflow', 'bad_profile_or_args'],
  ...['approval_blocked', 'timed_out', 'cancelled', 'interrupted', 'provider_error'],
] as const;
export type LikelyIssue = (typeof LIKELY_ISSUES)[number];

export interface Rule {
  readonly issue: LikelyIssue;
  when(situation: Situation): boolean;
  explain(situation: Situation): string;
  readonly suggestions: readonly string[];
}

const QUIET_S = 120;
const TOOL_LONG_S = 120;
const UNCLAIMED_S = 10;

const isQueued = ({ state }: Situation) => state === 'queued';
const isRunning = ({ state }: Situation) => state === 'running';
/** It came to no good end, and no state of its own says why. */
const hasFailed = ({ state }: Situation) => state === 'failed' || state === 'blocked';
const says = (pattern: RegExp) => (situation: Situation) =>
  hasFailed(situation) && pattern.test(situation.words);
const lies = (fault: ProviderFault) => (situation: Situation) =>
  hasFailed(situation) && isFault(fault, { code: situation.failureCode, words: situation.words });
const words = (situation: Situation) =>
  situation.words.trim().split('\n').slice(-3).join(' / ').slice(0, 500);

const RETRY = 'send the message again once that is mended: agentctl message send';
const WAITS_ON_TOOL = /wait_for_run|session-wait|run wait/;

/** The first that fits is what is told. */
export const RULES: readonly Rule[] = [
  {
    issue: 'none',
    when: ({ state }) => state === 'succeeded',
    explain: () => 'it succeeded',
    suggestions: [],
  },
  {
    issue: 'external',
    when: ({ executor, state }) => executor === 'external' && !isTerminalRun(state),
    explain: ({ state }) => `it is ${state}, and something outside of this daemon does it`,
    suggestions: ['see to whoever does it; agentctl run transition says what has become of it'],
  },
  {
    issue: 'worker_pool_dead',
    when: (situation) => (isQueued(situation) || isRunning(situation)) && situation.aliveWorkers === 0,
    explain: () => 'no place of the pool takes runs: the daemon is being stopped',
    suggestions: [
      'agentctl daemon status',
      'agentctl daemon start, once it has ended: what is queued goes on then',
    ],
  },
  {
    issue: 'stale_daemon_run',
    when: (situation) => !isTerminalRun(situation.state) && situation.otherOwner !== null,
    explain: ({ otherOwner }) => `its session belongs to another process (${otherOwner})`,
    suggestions: ['end that process, or ask it: one daemon for each database'],
  },
  {
    issue: 'waiting_for_session_turn',
    when: (situation) => isQueued(situation) && situation.behind !== null,
    explain: ({ behind }) =>
      `run ${behind} of the same session is before it: a session does one after the other`,
    suggestions: [
      'wait for that run, or cancel it: agentctl run cancel',
      'begin another session to work at the same time',
    ],
  },
  {
    issue: 'queue_backlog',
    when: (situation) => isQueued(situation) && situation.busyWorkers >= situation.maxConcurrency,
    explain: ({ queuePosition, busyWorkers, maxConcurrency }) =>
      `all ${maxConcurrency} places are taken (${busyWorkers} run); its queue_position is ${queuePosition}`,
    suggestions: [
      'wait',
      'start agentd with a larger --max-concurrency',
      'cancel what is not needed: agentctl run cancel',
    ],
  },
  {
    issue: 'queued_unclaimed',
    when: (situation) => isQueued(situation) && situation.ageS > UNCLAIMED_S,
    explain: ({ ageS }) => `a place is free, and it was not begun for ${Math.round(ageS)} s`,
    suggestions: ['agentctl daemon logs', 'agentctl daemon stop and start: nothing is lost by it'],
  },
  {
    issue: 'awaiting_parent',
    when: ({ state, asksParent }) => state === 'waiting' && asksParent,
    explain: ({ waitingText }) => `it asked its parent and waits for the answer: ${waitingText ?? ''}`,
    suggestions: ['answer it: agentctl tool session-send', 'agentctl escalation list shows what is open'],
  },
  {
    issue: 'awaiting_answer',
    when: ({ state }) => state === 'waiting',
    explain: ({ waitingText }) => `it waits for somebody: ${waitingText ?? ''}`,
    suggestions: ['answer with the next message: agentctl message send', 'or end it: agentctl run cancel'],
  },
  {
    issue: 'worker_dead',
    when: (situation) => isRunning(situation) && situation.workerAlive === false,
    explain: ({ workerId }) => `its place ${workerId ?? ''} does nothing any more`,
    suggestions: [
      'agentctl daemon stop and start: it is taken up again, or interrupted where its process is gone',
    ],
  },
  {
    issue: 'process_missing',
    when: (situation) => isRunning(situation) && situation.pidAlive === false,
    explain: ({ pid }) => `its process ${pid} is gone, and nobody has told of its end`,
    suggestions: [
      'wait 10 s: the daemon looks after it by itself',
      'agentctl run cancel, then send the message again',
    ],
  },
  {
    issue: 'awaiting_children',
    when: (situation) =>
      isRunning(situation) &&
      situation.openChildren > 0 &&
      (situation.openTool === null ? situation.quietS > 60 : WAITS_ON_TOOL.test(situation.openTool.name)),
    explain: ({ openChildren }) => `it waits for ${openChildren} of its children`,
    suggestions: ['diagnose the children: agentctl run diagnose'],
  },
  {
    issue: 'tool_running_long',
    when: (situation) => isRunning(situation) && (situation.openTool?.forS ?? 0) > TOOL_LONG_S,
    explain: ({ openTool }) =>
      `its tool ${openTool?.name ?? ''} runs since ${Math.round(openTool?.forS ?? 0)} s`,
    suggestions: ['wait, if that may take so long', 'agentctl run cancel ends it and everything it started'],
  },
  {
    issue: 'no_output',
    when: (situation) => isRunning(situation) && situation.quietS > QUIET_S,
    explain: ({ quietS }) => `it runs and has said nothing for ${Math.round(quietS)} s`,
    suggestions: ['process_cpu_s tells whether it computes: ask again in a while', 'agentctl run cancel'],
  },
  {
    issue: 'provider_not_found',
    when: lies('provider_not_found'),
    explain: (situation) => `its program is not there: ${words(situation)}`,
    suggestions: [
      'agentctl daemon status shows which agents are found',
      'install it, or mend PATH of the daemon',
      RETRY,
    ],
  },
  {
    issue: 'resume_thread_missing',
    when: (situation) =>
      situation.hasThread &&
      says(/no (conversation|session|thread|rollout)\b.*(found|")|thread .*not found/i)(situation),
    explain: (situation) => `its agent does not know its conversation any more: ${words(situation)}`,
    suggestions: [RETRY],
  },
  {
    issue: 'provider_auth',
    when: lies('provider_auth'),
    explain: (situation) => `its provider does not know who asks: ${words(situation)}`,
    suggestions: ['log in with the agent itself, as the user that runs the daemon', RETRY],
  },
  {
    issue: 'rate_limited',
    when: lies('rate_limited'),
    explain: (situation) => `its provider takes no more for now: ${words(situation)}`,
    suggestions: [
      'wait until the limit is over',
      'another provider: agentctl session update --provider; several, for next time: --provider ONE,OTHER',
      RETRY,
    ],
  },
  {
    issue: 'context_overflow',
    when: says(
      /context.{0,20}(length|window|limit|overflow)|prompt is too long|too many tokens|maximum.{0,20}tokens/i,
    ),
    explain: (situation) => `its conversation is too long for the model: ${words(situation)}`,
    suggestions: ['go on in a new session, with what matters in its first message'],
  },
  {
    issue: 'bad_profile_or_args',
    when: says(
      /unknown (option|argument|flag)|unexpected argument|invalid (value|option)|config(uration)? (file|error|profile)|profile .*not found/i,
    ),
    explain: (situation) => `it was started with what it does not take: ${words(situation)}`,
    suggestions: ['look at argv_redacted, and at the --agent-option settings of the daemon'],
  },
  {
    issue: 'approval_blocked',
    when: says(/approval|permission denied|not permitted|sandbox|denied by/i),
    explain: (situation) => `something that it wanted was not allowed: ${words(situation)}`,
    suggestions: [
      'allow it in the configuration of the agent',
      'a session with --permissions bypass, if you trust it with all',
    ],
  },
  ...(['timed_out', 'cancelled', 'interrupted'] as const).map((state): Rule => ({
    issue: state,
    when: (situation) => situation.state === state,
    explain: (situation) => (situation.words.trim() === '' ? `it was ${state}` : words(situation)),
    suggestions:
      state === 'timed_out'
        ? ['give it more time: --timeout-s', RETRY]
        : state === 'interrupted'
          ? [RETRY]
          : [],
  })),
  {
    issue: 'provider_error',
    when: hasFailed,
    explain: (situation) => `its agent failed: ${words(situation)}`,
    suggestions: ['read its events: agentctl events list', RETRY],
  },
  {
    issue: 'none',
    when: () => true,
    explain: ({ state, quietS }) => `it is ${state}; its last sign is ${Math.round(quietS)} s old`,
    suggestions: [],
  },
];

export function likelyIssue(situation: Situation): {
  likely_issue: LikelyIssue;
  explanation: string;
  suggestions: readonly string[];
} {
  const rule = RULES.find(({ when }) => when(situation));
  if (rule === undefined) throw new Error('no rule fits');
  const { issue, explain, suggestions } = rule;
  return { likely_issue: issue, explanation: explain(situation), suggestions };
}
