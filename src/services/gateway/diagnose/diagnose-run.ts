import type { StoredEvent } from '../../../core/events/index.js';
import { isTerminalRun } from '../../../core/state/states.js';
import type { AttemptRow, RunRow, WorkerRow } from '../../../core/state/rows.js';
import { openEscalation, escalationState, requests } from '../children/escalations.js';
import { childrenOf, openRunsBelow } from '../children/lineage.js';
import { findConversation, optionsOf } from '../conversation-row.js';
import type { Gateway } from '../gateway.js';
import { openRuns, places, queueCounts } from '../pool-view.js';
import { threadWith } from '../views.js';
import { likelyIssue, type Situation } from './likely-issue.js';

const PREVIEW = 200;
const TAIL_BYTES = 4_096;

/** Everything that is known of a run, and what is most likely wrong with it. Nothing is changed. */
export async function diagnoseRun(gateway: Gateway, run: RunRow) {
  const { store, clock, processes } = gateway;
  const redact = (text: string) => gateway.redact(text);
  const worker = workerOf(gateway, run);
  const events = store.events({ after: 0, sessionId: run.session_id, runId: run.run_id });
  const attempt = lastAttempt(gateway, run);
  const pid = attempt?.ended_at === null ? attempt.pid : null;
  const pidAlive = aliveness(gateway, attempt);
  const pool = poolFacts(gateway, run);
  const tools = toolCalls(events, redact);
  const invocation = await gateway.conversations.invocation(worker, run.run_id);
  const last = events.at(-1);
  const secondsSince = (at: string | undefined) =>
    at === undefined ? 0 : Math.max(0, (clock.now() - Date.parse(at)) / 1_000);
  const tail = run.run_id === worker.last_run_id ? (worker.output_tail ?? '') : '';
  const cpuMs = pid === null || pidAlive !== true ? null : await processes.cpuTime(pid).catch(() => null);
  const open = tools.open.at(-1);
  const situation: Situation = {
    ...{ state: run.state, executor: run.executor, ageS: secondsSince(run.created_at) },
    ...{ queuePosition: pool.position, workerId: pool.place?.worker_id ?? null },
    ...{ workerAlive: pool.place?.alive ?? null, aliveWorkers: pool.alive, busyWorkers: pool.busy },
    ...{ maxConcurrency: pool.size, pid, pidAlive, otherOwner: otherOwner(gateway, run) },
    behind: run.state === 'queued' ? runBefore(gateway, run) : null,
    asksParent: openEscalation(store, run) !== null,
    openChildren: openRunsBelow(store, run).length,
    openTool: open === undefined ? null : { name: open.name, forS: secondsSince(open.started_at) },
    quietS: secondsSince(last?.at),
    ...{ waitingText: run.waiting_text, failureCode: run.failure_code },
    words: redact(`${run.summary}\n${tail}`),
    hasThread: worker.thread_id !== null,
  };
  return {
    ...{ status: run.state, age_s: Math.floor(situation.ageS), queue_position: pool.position },
    ...{ queue_counts: pool.counts, worker_id: situation.workerId, worker_alive: situation.workerAlive },
    ...{ alive_workers: pool.alive, busy_workers: pool.busy, max_concurrency: pool.size },
    ...{ active_pid: pid, pid_alive: pidAlive, process_cpu_s: cpuMs === null ? null : cpuMs / 1_000 },
    ...{ last_event_at: last?.at ?? null, last_event_type: last?.type ?? null },
    seconds_since_last_event: last === undefined ? null : Math.floor(situation.quietS),
    tool_calls: tools,
    attempts: run.attempts,
    invocation: {
      binary: invocation?.binary ?? null,
      profile: invocation?.options['profile'] ?? null,
      extra_args: invocation?.options['extra_args']?.split('\n') ?? [],
      argv_redacted: invocation?.argv.map(redact) ?? null,
      ...{ cwd: worker.worktree, thread_id: worker.thread_id, resume: worker.thread_id !== null },
    },
    ...{ provider: worker.agent, given_up: givenUp(events, redact), exit_code: attempt?.exit_status ?? null },
    stderr_tail: tail === '' ? null : lastBytes(redact(tail)),
    ...{ children: children(gateway, run), open_escalations: openEscalations(gateway, run) },
    ...likelyIssue(situation),
  };
}

/** As it is for whoever did this run: it may ask another by now. */
function workerOf({ store }: Gateway, run: RunRow): WorkerRow {
  const worker = store.worker(run.session_id, run.worker_id);
  if (worker === null) throw new Error(`run ${run.run_id} has no worker`);
  const agent = run.agent ?? findConversation(store, run.session_id).lead_agent;
  return { ...worker, agent, thread_id: threadWith(worker, agent) };
}

/** Those that could not do it, and why; the next of the list was asked instead. */
function givenUp(events: readonly StoredEvent[], redact: (text: string) => string) {
  return events.flatMap((event) =>
    event.type === 'worker.switched' && event.data.reason !== null
      ? [{ provider: event.data.from, reason: redact(event.data.reason) }]
      : [],
  );
}

function lastAttempt({ store }: Gateway, run: RunRow): AttemptRow | null {
  return store.attempts(run.session_id).findLast(({ run_id: of }) => of === run.run_id) ?? null;
}

function aliveness({ processes }: Gateway, attempt: AttemptRow | null): boolean | null {
  if (attempt === null || attempt.ended_at !== null) return null;
  const { pid, pid_started_at: pidStartedAt } = attempt;
  return pid === null || pidStartedAt === null ? null : processes.isAlive({ pid, pidStartedAt });
}

function poolFacts(gateway: Gateway, run: RunRow) {
  const { store, slots } = gateway;
  const open = openRuns(store);
  const all = places(gateway);
  const queued = open.filter(({ state, executor }) => state === 'queued' && executor === 'pool');
  const at = queued.findIndex(({ run_id: id }) => id === run.run_id);
  return {
    position: at === -1 ? null : at + 1,
    counts: queueCounts(store, open),
    place: all.find(({ run_id: id }) => id === run.run_id) ?? null,
    alive: gateway.isDraining ? 0 : slots.size,
    ...{ busy: slots.running.length, size: slots.size },
  };
}

function runBefore({ store }: Gateway, run: RunRow): string | null {
  const first = store.runs(run.session_id, run.worker_id).find(({ state }) => !isTerminalRun(state));
  return first === undefined || first.run_id === run.run_id ? null : first.run_id;
}

function otherOwner({ store, settings }: Gateway, run: RunRow): number | null {
  const lease = store.lease(run.session_id);
  return lease === null || lease.pid === settings.pid ? null : lease.pid;
}

function toolCalls(events: readonly StoredEvent[], redact: (text: string) => string) {
  const returned = new Set(events.flatMap((one) => (one.type === 'tool.returned' ? [one.data.call_id] : [])));
  const called = events.flatMap((one) => (one.type === 'tool.called' ? [one] : []));
  return {
    total: called.length,
    open: called
      .filter(({ data }) => !returned.has(data.call_id))
      .map(({ at, data }) => ({
        ...{ name: data.tool, started_at: at },
        args_preview: redact(JSON.stringify(data.input ?? null)).slice(0, PREVIEW),
      })),
  };
}

function children({ store }: Gateway, run: RunRow) {
  return childrenOf(store, run.session_id)
    .filter((child) => optionsOf(child).parent?.run_id === run.run_id)
    .flatMap((child) => store.runs(child.session_id))
    .map(({ run_id, session_id, state }) => ({ run_id, session_id, status: state }));
}

/** What its children ask it, and what it asks its parent. */
function openEscalations({ store }: Gateway, run: RunRow) {
  const own = openEscalation(store, run);
  const asked = requests(store, run.session_id).filter(
    (event) => event.run_id === run.run_id && escalationState(store, event) === 'open',
  );
  return [...(own === null ? [] : [own]), ...asked].map(({ data }) => ({
    ...{ id: data.escalation_id, kind: data.kind, text: data.text, run_id: data.run },
  }));
}

function lastBytes(text: string): string {
  return Buffer.from(text).subarray(-TAIL_BYTES).toString();
}
