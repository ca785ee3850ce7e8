import type { EventData, EventName, NewEvent } from '../../src/core/events/index.js';

type Subject = Partial<Pick<NewEvent, 'session_id' | 'worker_id' | 'run_id' | 'source' | 'evidence' | 'at'>>;

export const SESSION = '3f2a91bc';
export const WORKER = 'w01';
export const RUN = '0198f1c2-0000-7000-8000-000000000001';

/** Valid data for every event, to be changed where a test looks. */
export const SAMPLES: { readonly [Name in EventName]: EventData<Name> } = {
  'session.created': {
    kind: 'goal',
    goal: 'make it faster',
    project: '/home/user/project',
    base_commit: 'a1',
    base_statement: 'base main@a1',
    repository: '/home/user/project/.git',
    subdirectory: '',
    lead_agent: 'scripted',
    worker_agents: ['scripted'],
    options: { apply: false },
    verify_commands: [{ label: 'test', command: 'npm test', source: 'package.json' }],
    setup_commands: [],
  },
  'session.updated': { directory: '/tmp/agentorchestr-3f2a91bc' },
  'session.paused': { reason: 'asked' },
  'session.resumed': { reason: 'asked' },
  'session.ended': { state: 'done', summary: 'faster' },
  'session.cleaned': { removed: ['/data/worktrees/w01'], left: [], bytes: 4_096 },
  'result.applied': { how: 'main was fast-forwarded to a1b2c3d' },
  'supervisor.started': { pid: 4321, port: 40_123 },
  'supervisor.recovered': { adopted: ['w01'], lost: [] },
  'tmux.lost': { socket: '/tmp/tmux-0/x', reason: 'exited' },
  'limit.reached': { limit: 'max_workers', value: 8, max: 8, what: 'spawn' },
  'progress.reported': { message: 'half way' },
  'goal.done': { summary: 'faster', verify_id: 'v1', forced: null, discarded: [] },
  'goal.failed': { reason: 'cannot be done' },
  'worker.created': {
    role: 'worker',
    perspective: 'implementer',
    read_only: false,
    agent: 'scripted',
    backend: 'tmux',
    task: 'write it',
    file_scope: ['src'],
    pass_criteria: 'tests pass',
    branch: 'agentorchestr/3f2a91bc/implementer-w01',
    worktree: '/data/worktrees/w01',
    base_commit: 'a1',
  },
  'worker.started': {
    attempt_id: 'attempt-1',
    pane_id: '%3',
    window: '@1',
    pid: 500,
    pid_started_at: '7777',
  },
  'worker.ready': { attempt_id: 'attempt-1' },
  'worker.working': {},
  'worker.waiting': {
    kind: 'permission',
    text: 'Run rm?',
    choices: [{ number: 1, label: 'Yes' }],
    prompt_hash: 'abc123',
    via: 'screen',
  },
  'worker.idle': {},
  'worker.exited': { attempt_id: 'attempt-1', status: 0, reason: 'exited', output_tail: 'bye' },
  'worker.lost': { reason: 'its server is gone' },
  'worker.retired': { reason: 'room was needed' },
  'worker.moved': { window: 'agentorchestr-2' },
  'worker.switched': { agent: 'other', from: 'scripted', reason: null },
  'thread.opened': { thread_id: 'thread-1' },
  'screen.changed': { pane_id: '%3' },
  'message.accepted': {
    message_id: 'message-1',
    kind: 'task',
    sender: 'lead',
    text: 'write it',
    about: null,
  },
  'message.queued': { message_id: 'message-1' },
  'message.held': { message_id: 'message-1', reason: 'human_draft' },
  'message.typed': { message_id: 'message-1', bytes: 8 },
  'message.submitted': { message_id: 'message-1', how: 'hook' },
  'message.started': { message_id: 'message-1' },
  'message.answered': { message_id: 'message-1' },
  'message.unconfirmed': { message_id: 'message-1', screen: '> write it' },
  'message.refused': { message_id: 'message-1', reason: 'the worker has ended' },
  'run.queued': { message_id: 'message-1', number: 1, nonce: 'n0nce', retry_of: null },
  'run.started': { attempt: 1, attempt_id: 'attempt-1', new_process: true },
  'run.waiting': { kind: 'question', text: 'Which one?' },
  'run.reported': { state: 'succeeded', summary: 'written', accepted: true },
  'run.stalled': { quiet_ms: 600_000, since: '2026-01-01T00:00:00.000Z', last_line: 'running the tests' },
  'run.moved': { sign: 'output', quiet_ms: 660_000 },
  'thread.lost': { thread_id: 'thread-1', reason: 'no such conversation' },
  'run.attempt_ended': { attempt_id: 'attempt-1', status: 0 },
  'run.attempt_failed': { attempt_id: 'attempt-1', reason: 'exit 1' },
  'run.cancel_requested': { by: 'lead', reason: 'not needed' },
  'run.succeeded': { summary: 'written' },
  'run.blocked': { summary: 'no access' },
  'run.failed': { summary: 'ended', failure_code: 'AGENT_EXITED' },
  'run.timed_out': { summary: 'too long' },
  'run.cancelled': { summary: 'not needed' },
  'run.interrupted': { summary: 'paused' },
  'question.asked': { question: 'Which one?' },
  'question.answered': { message_id: 'message-1' },
  'permission.requested': { text: 'Run rm?' },
  'permission.denied': { tool: 'Bash', text: 'rm -rf /' },
  'permission.answered': { answer: 'no', by: 'user' },
  'text.delta': { text: 'wri' },
  'text.completed': { text: 'written' },
  'reasoning.delta': { text: 'hm' },
  'reasoning.completed': { text: 'hmm' },
  'tool.called': { tool: 'shell', call_id: 'c1', input: { command: 'ls' } },
  'tool.returned': { call_id: 'c1', is_error: false, output: 'src' },
  'usage.reported': { input_tokens: 10, output_tokens: 20, cost_usd: 0.25 },
  'child.spawned': { child: 'w02' },
  'child.finished': { child: 'w02', state: 'succeeded' },
  'escalation.requested': {
    ...{
      escalation_id: 'e1',
      kind: 'question',
      text: 'which?',
      child: '0badcafe',
      run: 'r2',
      expires_at: null,
    },
  },
  'escalation.answered': { escalation_id: 'e1', by: 'client', message_id: 'm1' },
  'escalation.expired': { escalation_id: 'e1', message_id: 'm1' },
  'branch.created': { branch: 'b', worktree: '/data/worktrees/w01', commit: 'a1' },
  'branch.integrated': {
    worker: 'w01',
    branch: 'b',
    worker_commit: 'b2',
    integration_commit: 'c3',
    strategy: 'merge',
  },
  'conflict.predicted': { worker: 'w01', files: ['src/a.ts'], sent_back: false },
  'verify.started': { verify_id: 'v1', commit: 'c3', commands: ['npm test'] },
  'verify.passed': {
    verify_id: 'v1',
    commit: 'c3',
    results: [{ label: 'test', command: 'npm test', exit_code: 0, duration_ms: 1200, tail: 'ok' }],
    nothing_to_verify: false,
  },
  'verify.failed': { verify_id: 'v1', commit: 'c3', results: [], reason: 'exit 1' },
  'work.salvaged': { worker: 'w01', ref: 'refs/agentorchestr/salvage/3f2a91bc/w01', commit: 'd4' },
};

/** Events that concern a session, not a worker or run of it. */
const OF_SESSION = /^(session|supervisor|tmux|limit|progress|goal|verify|branch|conflict)\./;

/** A valid event of `type` about the sample session, worker and run, with the parts that a test cares about. */
export function sampleEvent<Name extends EventName>(
  type: Name,
  data: Partial<EventData<Name>> = {},
  subject: Subject = {},
): NewEvent {
  const about = OF_SESSION.test(type)
    ? {}
    : { worker_id: WORKER, ...(type.startsWith('worker.') ? {} : { run_id: RUN }) };
  return {
    type,
    session_id: SESSION,
    ...about,
    source: 'supervisor',
    evidence: 'protocol',
    ...subject,
    data: { ...SAMPLES[type], ...data },
  } as unknown as NewEvent;
}

/** A session with one worker whose first run is under way. */
export function sampleRun(runId = RUN): NewEvent[] {
  return [
    sampleEvent('session.created'),
    sampleEvent('worker.created'),
    sampleEvent('message.accepted', {}, { run_id: runId }),
    sampleEvent('run.queued', {}, { run_id: runId }),
    sampleEvent('run.started', {}, { run_id: runId }),
    sampleEvent('worker.started'),
    sampleEvent('worker.ready'),
  ];
}
