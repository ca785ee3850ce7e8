import { z } from 'zod';
import { OrchestratorError } from '../../../core/errors/error.js';
import { REQUEST_KINDS } from '../../../core/events/run.js';
import { isTerminalRun } from '../../../core/state/states.js';
import type { Caller } from '../../operation.js';
import { checkAnswerer, escalationState, replyParent, requests } from '../children/escalations.js';
import { isBelow } from '../children/lineage.js';
import { spawnChild } from '../children/spawn-child.js';
import { findConversation, findRun } from '../conversation-row.js';
import type { Gateway } from '../gateway.js';
import { CLIENTS, CLIENTS_AND_ABOVE, defineGatewayOperation } from '../operation.js';
import { postMessage } from '../post-message.js';
import {
  eventSchema,
  eventView,
  messageSchema,
  messageView,
  runSchema,
  runView,
  sessionSchema,
  sessionView,
} from '../views.js';
import { idempotencyKey, providers, replay, replayed, runId, sessionId, text, timeoutS } from './fields.js';

export const spawnSession = defineGatewayOperation({
  name: 'spawn_session',
  summary:
    'Give a task to a new agent in a child session; answers at once. Wait for its run, or go on: its end is told.',
  ...{ effect: 'write', idempotent: false, scopes: CLIENTS_AND_ABOVE, reach: 'own' },
  address: { method: 'POST', path: '/runs/{run_id}/spawn', status: 202 },
  input: z.object({
    run_id: runId,
    task: text,
    title: z.string().max(500).optional().describe('the first line of the task when absent'),
    provider: z.string().max(100).optional().describe("the agent; the parent's when absent"),
    providers,
    cwd: z.string().max(4_096).optional().describe("absolute path; the parent's folder when absent"),
    timeout_s: timeoutS,
    wake_parent: z.boolean().default(false).describe('its end starts a run of the parent'),
    metadata: z.record(z.string().max(200), z.unknown()).default({}),
    idempotency_key: idempotencyKey,
  }),
  output: z.object({
    session: sessionSchema,
    run: runSchema,
    parent: z.object({ session_id: z.string(), run_id: z.string() }),
    idempotent_replay: replay,
  }),
  run: async ({ gateway, caller }, input) => {
    const { session, run, parent, replayed: was } = await spawnChild(gateway, input, caller.name);
    return {
      session: sessionView(gateway.store, session),
      run: runView(gateway.store, run),
      parent: { session_id: parent.session_id, run_id: parent.run_id },
      ...replayed(was),
    };
  },
});

export const sendToSession = defineGatewayOperation({
  name: 'send_to_session',
  summary:
    'Say something to the agent of a session; it is told who says it. It answers what the session asked.',
  ...{ effect: 'write', idempotent: false, waits: true, scopes: CLIENTS_AND_ABOVE },
  address: {
    ...{ method: 'POST', path: '/sessions/{session_id}/send', status: 202 },
    otherwise: { status: 200, when: (answer) => answer['status'] !== 'accepted' },
  },
  input: z.object({
    session_id: sessionId,
    text,
    from_session_id: sessionId.optional().describe('in whose name; an agent always speaks in its own'),
    from_run_id: runId.optional(),
    timeout_s: z.coerce.number().min(0).max(3_600).default(0).describe('wait so long for what comes of it'),
    idempotency_key: idempotencyKey,
  }),
  output: z.object({
    message: messageSchema,
    run: runSchema,
    status: z
      .enum(['accepted', 'ok', 'waiting', 'timeout', 'error'])
      .describe('timeout: its run goes on; waiting: it asks something'),
    reply: z.string().optional(),
    error: z.object({ code: z.string().nullable(), message: z.string() }).optional(),
    idempotent_replay: replay,
  }),
  run: async ({ gateway, ...call }, { from_session_id, from_run_id, timeout_s, ...input }) => {
    const { caller } = call;
    const from = origin(gateway, caller, input.session_id, { from_session_id, from_run_id });
    // Whoever speaks in an agent's name may say what that agent may.
    if ((from_session_id ?? from_run_id) !== undefined)
      checkAnswerer(gateway.store, input.session_id, { scope: 'run' });
    const posted = await postMessage(gateway, { ...input, by: 'send', caller, from });
    const { store } = gateway;
    if (timeout_s > 0) await gateway.waits.wait(posted.run.run_id, timeout_s * 1_000, call);
    const run = runView(store, findRun(gateway, posted.run.run_id));
    return {
      ...{ message: messageView(posted.message), run },
      ...(timeout_s > 0 ? outcome(run) : { status: 'accepted' as const }),
      ...replayed(posted.replayed),
    };
  },
});

function outcome(run: z.input<typeof runSchema>) {
  if (run.state === 'succeeded') return { status: 'ok' as const, reply: run.result_text ?? '' };
  if (run.state === 'waiting') return { status: 'waiting' as const, reply: run.waiting?.text ?? '' };
  if (!isTerminalRun(run.state)) return { status: 'timeout' as const };
  return { status: 'error' as const, error: run.error ?? { code: null, message: run.state } };
}

/** A client may speak for a session; for an agent its token says who it is. Throws INVALID_INPUT. */
function origin(
  gateway: Gateway,
  caller: Caller,
  to: string,
  given: { from_session_id?: string | undefined; from_run_id?: string | undefined },
): { sender: string; runId: string | null } {
  const { store } = gateway;
  const runOf = caller.scope === 'run' ? caller.runId : given.from_run_id;
  const run = runOf === undefined ? null : findRun(gateway, runOf);
  const from = run?.session_id ?? given.from_session_id;
  if (from === undefined) return { sender: caller.name, runId: null };
  if (given.from_session_id !== undefined && given.from_session_id !== from)
    throw new OrchestratorError('INVALID_INPUT', {
      field: 'from_session_id',
      problem: `the run that speaks is of session ${from}`,
    });
  findConversation(store, from);
  const name = run === null ? `session ${from}` : `session ${from} (run ${run.run_id})`;
  return { sender: name, runId: run !== null && isBelow(store, to, from) ? run.run_id : null };
}

export const replyToParent = defineGatewayOperation({
  name: 'reply_parent',
  summary:
    'Ask your parent session something, or tell it how you are (status). End your turn then: the answer continues the run.',
  ...{ effect: 'write', idempotent: false, scopes: CLIENTS_AND_ABOVE, reach: 'own' },
  address: { method: 'POST', path: '/runs/{run_id}/reply-parent', status: 202 },
  input: z.object({
    run_id: runId,
    text,
    request_kind: z
      .enum(REQUEST_KINDS)
      .default('question')
      .describe('permission_request: only a person may answer it; status: nobody need answer'),
    wake_parent: z.boolean().optional().describe('start a run of the parent for it; absent: as at the spawn'),
    idempotency_key: idempotencyKey,
  }),
  output: z.object({
    message: messageSchema,
    event: eventSchema,
    parent_session_id: z.string(),
    parent_run_id: z.string(),
    escalation: z.object({ id: z.string(), status: z.string() }),
    idempotent_replay: replay,
  }),
  run: async ({ gateway, caller }, input) => {
    const { message, event, parent, replayed: was } = replyParent(gateway, input, caller);
    return {
      ...{ message: messageView(message), event: eventView(event) },
      ...{ parent_session_id: parent.session_id, parent_run_id: parent.run_id },
      escalation: { id: event.data.escalation_id, status: escalationState(gateway.store, event) },
      ...replayed(was),
    };
  },
});

export const listEscalations = defineGatewayOperation({
  name: 'list_escalations',
  summary: 'List what the children of a session asked it, oldest first.',
  ...{ effect: 'read', idempotent: true, scopes: CLIENTS },
  address: { method: 'GET', path: '/sessions/{session_id}/escalations', status: 200 },
  input: z.object({ session_id: sessionId }),
  output: z.object({
    escalations: z.array(
      z.object({
        id: z.string(),
        status: z.string().describe('open, answered, expired, told (it asks nothing) or over'),
        request_kind: z.enum(REQUEST_KINDS),
        text: z.string(),
        child_session_id: z.string(),
        child_run_id: z.string(),
        expires_at: z.string().nullable(),
      }),
    ),
  }),
  run: async ({ gateway: { store } }, { session_id }) => {
    findConversation(store, session_id);
    return {
      escalations: requests(store, session_id).map((event) => ({
        id: event.data.escalation_id,
        status: escalationState(store, event),
        request_kind: event.data.kind,
        text: event.data.text,
        child_session_id: event.data.child,
        child_run_id: event.data.run,
        expires_at: event.data.expires_at,
      })),
    };
  },
});
