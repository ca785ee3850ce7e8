import { z } from 'zod';
import { EXECUTORS, RUN_SIGNS, WAITING_KINDS } from '../state/states.js';
import { event } from './define.js';

const summary = z.string();

/** What a child may want of its parent. `permission_request` is the gate of an agent's own program: for people only. */
export const REQUEST_KINDS = ['question', 'approval_request', 'permission_request', 'status'] as const;

export const runEvents = {
  'run.queued': event('A unit of work was accepted for a worker.', {
    message_id: z.string(),
    number: z.number().describe('1 for the first run of this worker'),
    nonce: z.string().describe('names this run in sentinel lines'),
    retry_of: z.string().nullable(),
    parent_run_id: z.string().optional().describe('the run whose agent asked for it'),
    timeout_ms: z.number().optional().describe('of running time; then it ends as timed out'),
    retries: z.number().optional().describe('how often a failed attempt is followed by another by itself'),
    fallbacks: z
      .array(z.string())
      .optional()
      .describe('workers that stand in, in order, for one that fails before it has said or done anything'),
    executor: z.enum(EXECUTORS).optional().describe('external: nothing of ours does it'),
  }),
  'run.started': event(
    'An attempt at the run begins. For a new process the row is committed before the spawn.',
    {
      attempt: z.number(),
      attempt_id: z.string(),
      new_process: z.boolean(),
      agent: z.string().optional().describe('whose process it is'),
    },
  ),
  'run.waiting': event(
    'The turn ended with an open question or request; the next message continues this run.',
    {
      kind: z.enum(WAITING_KINDS),
      text: z.string(),
    },
  ),
  'run.reported': event('Somebody says how the run ended: a candidate, not yet the outcome.', {
    state: z.enum(['succeeded', 'blocked', 'failed']),
    summary,
    accepted: z.boolean().describe('false: sent back once (uncommitted or no changes)'),
  }),
  'run.stalled': event('No output, no CPU, no hook for the stall time; once for each time of silence.', {
    quiet_ms: z.number(),
    since: z.string().optional().describe('the last sign of its agent'),
    last_line: z.string().optional().describe('what it showed or said last'),
  }),
  'run.moved': event('A stalled run moves again.', {
    sign: z.enum(RUN_SIGNS).describe('by what that was noticed'),
    quiet_ms: z.number(),
  }),
  'run.attempt_failed': event(
    'The process of this attempt ended without an outcome; the run goes on in a new attempt.',
    {
      attempt_id: z.string(),
      reason: z.string(),
      counts: z.boolean().optional().describe('false: it uses up none of the retries'),
    },
  ),
  'run.attempt_ended': event(
    'The process of this attempt ended after its turn, as it should: this agent is one process per turn.',
    { attempt_id: z.string(), status: z.number().nullable() },
  ),
  'run.cancel_requested': event(
    'Somebody asked to cancel; whatever is reported later settles as cancelled.',
    {
      by: z.string(),
      reason: z.string(),
    },
  ),
  'run.succeeded': event(
    'Terminal: the agent reported success, with the evidence of this event.',
    { summary },
    { synced: true },
  ),
  'run.blocked': event('Terminal: the agent reported that it cannot go on.', { summary }, { synced: true }),
  'run.failed': event(
    'Terminal: the agent reported failure, or ended without a report.',
    { summary, failure_code: z.string().nullable() },
    { synced: true },
  ),
  'run.timed_out': event('Terminal: the time of the run was used up.', { summary }, { synced: true }),
  'run.cancelled': event('Terminal: cancelled.', { summary }, { synced: true }),
  'run.interrupted': event(
    'Terminal: its process was ended by a pause, a crash or a lost server.',
    { summary },
    { synced: true },
  ),
  'question.asked': event('A worker asked the lead.', { question: z.string() }),
  'question.answered': event('The question was answered by a message.', { message_id: z.string() }),
  'permission.requested': event("The agent's own gate asks for permission.", { text: z.string() }),
  'permission.answered': event('A request or dialog of the agent was answered: with what, and by whom.', {
    answer: z.string(),
    by: z.string(),
  }),
  'permission.denied': event("The agent's own gate refused a tool, since nobody could be asked.", {
    tool: z.string(),
    text: z.string(),
  }),
  'text.delta': event('A piece of answer text.', { text: z.string() }, { durable: false }),
  'text.completed': event('A whole block of the answer text of a turn.', { text: z.string() }),
  'reasoning.delta': event('A piece of reasoning.', { text: z.string() }, { durable: false }),
  'reasoning.completed': event('A whole block of the reasoning of a turn.', { text: z.string() }),
  'tool.called': event('The agent called a tool.', {
    tool: z.string(),
    call_id: z.string(),
    input: z.unknown(),
  }),
  'tool.returned': event('A tool answered.', {
    call_id: z.string(),
    is_error: z.boolean(),
    output: z.string(),
  }),
  'usage.reported': event('The agent reported what it used.', {
    input_tokens: z.number().nullable(),
    output_tokens: z.number().nullable(),
    cost_usd: z.number().nullable(),
  }),
  'child.spawned': event('A run started a child session or worker.', {
    child: z.string(),
    run: z.string().optional().describe('the run that the child began with'),
  }),
  'child.finished': event('A run of a child ended.', {
    child: z.string(),
    state: z.string(),
    run: z.string().optional(),
    summary: z.string().optional().describe('its answer, or why there is none'),
  }),
  'escalation.requested': event('A child asks its parent; its run waits, unless it only says how it is.', {
    escalation_id: z.string(),
    kind: z.enum(REQUEST_KINDS),
    text: z.string(),
    child: z.string(),
    run: z.string(),
    expires_at: z.string().nullable().describe('then it counts as denied'),
  }),
  'escalation.answered': event('The child was answered, and its run goes on.', {
    escalation_id: z.string(),
    by: z.string(),
    message_id: z.string(),
  }),
  'escalation.expired': event('Nobody answered in time; the child was told that this means no.', {
    escalation_id: z.string(),
    message_id: z.string(),
  }),
};
