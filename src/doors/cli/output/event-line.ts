import { wasStopped, type EventData, type EventName, type StoredEvent } from '../../../core/events/index.js';
import { durationWords } from '../../../core/duration.js';
import { clockTime, oneLine } from './plain.js';

type Describe = { [Name in EventName]: (data: EventData<Name>, event: StoredEvent) => string };

const MOST = 100;
const short = (text: string) => oneLine(text, MOST);
const quoted = (text: string) => (text.trim() === '' ? '' : `: ${short(text)}`);
const at = (commit: string) => commit.slice(0, 7);

/** What each event says to a person; the compiler asks for a line when the table gets a new one. */
const DESCRIBE: Describe = {
  'session.created': ({ goal }) => `session created${quoted(goal)}`,
  'session.updated': ({ integration_branch: branch }) =>
    branch === undefined ? 'session placed' : `works on ${branch}`,
  'session.paused': ({ reason }) => `paused${quoted(reason)}`,
  'session.resumed': ({ reason }) => `resumed${quoted(reason)}`,
  'session.ended': ({ state, reason, summary }) =>
    `session ${state}${quoted(summary === '' ? (reason ?? '') : summary)}`,
  'supervisor.started': ({ pid, port }) => `supervisor runs (process ${pid}, port ${port})`,
  'supervisor.recovered': ({ adopted, lost }) =>
    `supervisor recovered: ${adopted.length} adopted, ${lost.length} lost`,
  'tmux.lost': ({ reason }) => `the tmux server is gone${quoted(reason)}`,
  'limit.reached': ({ limit, value, max }) => `limit reached: ${limit} (${value} of ${max})`,
  'progress.reported': ({ message }) => `progress${quoted(message)}`,
  'goal.done': ({ summary, forced }) => `goal done${forced === null ? '' : ' (forced)'}${quoted(summary)}`,
  'goal.failed': ({ reason }) => `goal failed${quoted(reason)}`,
  'worker.created': ({ perspective, agent, task }) => `created as ${perspective} (${agent})${quoted(task)}`,
  'worker.started': ({ pane_id: pane }, { run_id: run }) => {
    // A process that was made for one run has no terminal: its pane only shows what it says.
    if (run !== undefined) return `turn started${pane === null ? '' : `, shown in pane ${pane}`}`;
    return `process started${pane === null ? '' : ` in pane ${pane}`}`;
  },
  'worker.ready': () => 'ready',
  'worker.working': () => 'working',
  'worker.waiting': ({ kind, text }) => `waits (${kind})${quoted(text)}`,
  'worker.idle': () => 'idle',
  'worker.exited': ({ status, reason }) => `process ended (status ${status ?? 'unknown'})${quoted(reason)}`,
  'worker.lost': ({ reason }) => `lost${quoted(reason)}`,
  'worker.retired': ({ reason }) => `retired${quoted(reason)}`,
  'worker.moved': ({ window }) => `moved to window ${window}`,
  'worker.switched': ({ agent, from, reason }) =>
    `goes on with ${agent} instead of ${from}${quoted(reason ?? '')}`,
  'thread.opened': ({ thread_id: id }) => `conversation ${id}`,
  'screen.changed': () => 'screen changed',
  'message.accepted': ({ kind, sender, text }) => `${kind.replace('_', '-')} from ${sender}${quoted(text)}`,
  'message.queued': () => 'message queued',
  'message.held': ({ reason }) => `message held: ${reason.replaceAll('_', ' ')}`,
  'message.typed': ({ bytes }) => `message typed (${bytes} bytes)`,
  'message.submitted': ({ how }) => `message submitted${quoted(how)}`,
  'message.started': () => 'message taken up',
  'message.answered': () => 'message answered',
  'message.unconfirmed': () => 'message typed, but nothing proves that it was taken',
  'message.refused': ({ reason }) => `message refused${quoted(reason)}`,
  'run.queued': ({ number }) => `run ${number} queued`,
  'run.started': ({ attempt }) => `run started${attempt > 1 ? ` (attempt ${attempt})` : ''}`,
  'run.waiting': ({ kind, text }) => `run waits (${kind})${quoted(text)}`,
  'run.reported': ({ state, summary, accepted }) =>
    `reports ${state}${accepted ? '' : ' (sent back)'}${quoted(summary)}`,
  'run.stalled': ({ quiet_ms: quiet, last_line: line }) =>
    `stalled: no sign of it for ${durationWords(quiet)}${quoted(line ?? '')}`,
  'run.moved': ({ quiet_ms: quiet }) => `moves again after ${durationWords(quiet)}`,
  'thread.lost': ({ reason }) => `its conversation is gone${quoted(reason)}`,
  'run.attempt_ended': ({ status }) => `its process ended with status ${status ?? 'unknown'}`,
  'run.attempt_failed': ({ reason }) => `attempt failed${quoted(reason)}`,
  'run.cancel_requested': ({ by, reason }) => `cancel asked by ${by}${quoted(reason)}`,
  'run.succeeded': ({ summary }) => `done${quoted(summary)}`,
  'run.blocked': ({ summary }) => `blocked${quoted(summary)}`,
  'run.failed': ({ summary }) => `failed${quoted(summary)}`,
  'run.timed_out': ({ summary }) => `timed out${quoted(summary)}`,
  'run.cancelled': ({ summary }) => `cancelled${quoted(summary)}`,
  'run.interrupted': ({ summary }) => `interrupted${quoted(summary)}`,
  'question.asked': ({ question }) => `asks${quoted(question)}`,
  'question.answered': () => 'question answered',
  'permission.requested': ({ text }) => `asks for permission${quoted(text)}`,
  'permission.denied': ({ tool, text }) => `was not permitted ${tool}${quoted(text)}`,
  'permission.answered': ({ answer, by }) => `permission answered by ${by}${quoted(answer)}`,
  'text.delta': ({ text }) => short(text),
  'text.completed': ({ text }) => short(text),
  'reasoning.delta': ({ text }) => short(text),
  'reasoning.completed': ({ text }) => short(text),
  'tool.called': ({ tool }) => `calls ${tool}`,
  'tool.returned': ({ is_error: failed, output }) =>
    `${failed ? 'tool failed' : 'tool answered'}${quoted(output)}`,
  'usage.reported': ({ input_tokens: input, output_tokens: output }) =>
    `used ${input ?? '?'} in, ${output ?? '?'} out`,
  'child.spawned': ({ child }) => `started ${child}`,
  'child.finished': ({ child, state }) => `${child} ${state}`,
  'escalation.requested': ({ child, kind, text }) => `${child} sends a ${kind.replace('_', ' ')}: ${text}`,
  'escalation.answered': ({ by }) => `answered by ${by}`,
  'escalation.expired': () => 'nobody answered in time: it counts as denied',
  'branch.created': ({ branch, commit }) => `branch ${branch} at ${at(commit)}`,
  'branch.integrated': ({ strategy, integration_commit: commit }) =>
    `integrated (${strategy}) at ${at(commit)}`,
  'conflict.predicted': ({ files, sent_back: back }) =>
    `would conflict in ${files.join(', ')}${back ? '; sent back' : ''}`,
  'verify.started': ({ commit, commands }) => `verifying ${at(commit)}${quoted(commands.join(' && '))}`,
  'verify.passed': ({ commit, nothing_to_verify: nothing }) =>
    nothing ? `nothing to verify at ${at(commit)}` : `verified ${at(commit)}`,
  'verify.failed': ({ commit, reason, results }) =>
    `verification of ${at(commit)} ${wasStopped(results) ? 'was interrupted' : 'failed'}${quoted(reason)}`,
  'session.cleaned': ({ left }) => (left.length === 0 ? 'cleaned' : `cleaned; ${left.length} left in place`),
  'result.applied': ({ how }) => `merged: ${how}`,
  'work.salvaged': ({ worker, ref }) => `work of ${worker} kept as ${ref}`,
};

/** `12:01:33  w01   ready in pane %3` */
export function eventLine(event: StoredEvent): string {
  const describe = DESCRIBE[event.type] as ((data: unknown, whole: StoredEvent) => string) | undefined;
  const said = describe === undefined ? event.type : describe(event.data, event);
  return `${clockTime(event.at)}  ${(event.worker_id ?? '').padEnd(4)}  ${oneLine(said, 200)}`;
}
