import { z } from 'zod';
import { isTerminalRun } from '../../../core/state/states.js';
import { cancelTree } from '../children/cancel-tree.js';
import { CLIENTS, CLIENTS_AND_ABOVE, defineGatewayOperation } from '../operation.js';
import { postMessage, putContext } from '../post-message.js';
import { messageSchema, messageView, runSchema, runView } from '../views.js';
import { executor, idempotencyKey, replay, replayed, runId, sessionId, text, timeoutS } from './fields.js';
import { findRun } from '../conversation-row.js';

export const sendMessage = defineGatewayOperation({
  name: 'send_message',
  summary: 'Say something in a conversation: a run is queued for it, or the run that waits goes on.',
  ...{ effect: 'write', idempotent: false, scopes: CLIENTS },
  address: {
    ...{ method: 'POST', path: '/sessions/{session_id}/messages', status: 202 },
    otherwise: { status: 201, when: ({ run }) => run === undefined },
  },
  input: z.object({
    session_id: sessionId,
    text,
    role: z
      .enum(['user', 'system', 'assistant'])
      .default('user')
      .describe('system, assistant: makes no run; its agent gets it with the next message'),
    timeout_s: timeoutS,
    executor,
    idempotency_key: idempotencyKey,
  }),
  output: z.object({
    message: messageSchema,
    run: runSchema.optional().describe('of a message of a user'),
    idempotent_replay: replay,
  }),
  run: async ({ gateway, caller }, { role, ...input }) => {
    if (role !== 'user') {
      const put = putContext(gateway, { ...input, role, caller });
      return { message: messageView(put.message), ...replayed(put.replayed) };
    }
    const posted = await postMessage(gateway, { ...input, by: 'messages', caller });
    return {
      message: messageView(posted.message),
      run: runView(gateway.store, posted.run),
      ...replayed(posted.replayed),
    };
  },
});

export const createRun = defineGatewayOperation({
  name: 'create_run',
  summary: 'Queue a run in a conversation.',
  ...{ effect: 'write', idempotent: false, scopes: CLIENTS },
  address: { method: 'POST', path: '/runs', status: 202 },
  input: z.object({
    session_id: sessionId,
    text,
    timeout_s: timeoutS,
    executor,
    idempotency_key: idempotencyKey,
  }),
  output: z.object({ run: runSchema, idempotent_replay: replay }),
  run: async ({ gateway, caller }, input) => {
    const posted = await postMessage(gateway, { ...input, by: 'runs', caller });
    return { run: runView(gateway.store, posted.run), ...replayed(posted.replayed) };
  },
});

export const getRun = defineGatewayOperation({
  name: 'get_run',
  summary: 'Show one run: its state, and its answer once it has one.',
  ...{ effect: 'read', idempotent: true, scopes: CLIENTS_AND_ABOVE },
  address: { method: 'GET', path: '/runs/{run_id}', status: 200 },
  input: z.object({ run_id: runId }),
  output: z.object({ run: runSchema }),
  run: async ({ gateway }, { run_id }) => ({ run: runView(gateway.store, findRun(gateway, run_id)) }),
});

export const waitForRun = defineGatewayOperation({
  name: 'wait_for_run',
  summary: 'Wait until a run is over or waits for somebody. timed_out means: ask again.',
  ...{ effect: 'read', idempotent: true, waits: true, scopes: CLIENTS_AND_ABOVE },
  address: { method: 'GET', path: '/runs/{run_id}/wait', status: 200 },
  input: z.object({
    run_id: runId,
    timeout_s: z.coerce.number().min(0).max(3_600).default(300),
    interval_ms: z.coerce
      .number()
      .int()
      .min(50)
      .max(10_000)
      .default(500)
      .describe('taken and not needed: the answer comes with the event'),
  }),
  output: z.object({
    run: runSchema,
    done: z.boolean(),
    timed_out: z.boolean(),
    waited_ms: z.number(),
  }),
  run: async ({ gateway, ...call }, { run_id, timeout_s }) => {
    const { clock, store } = gateway;
    const before = findRun(gateway, run_id);
    const startedAt = clock.now();
    await gateway.waits.wait(before.run_id, timeout_s * 1_000, call);
    const run = findRun(gateway, run_id);
    const done = isTerminalRun(run.state);
    return {
      run: runView(store, run),
      done,
      timed_out: !done && run.state !== 'waiting',
      waited_ms: clock.now() - startedAt,
    };
  },
});

export const cancelRun = defineGatewayOperation({
  name: 'cancel_run',
  summary: 'End a run and every run that it asked for, in its child sessions too.',
  ...{ effect: 'destroy', idempotent: true, scopes: CLIENTS },
  address: {
    ...{ method: 'POST', path: '/runs/{run_id}/cancel', status: 202 },
    otherwise: { status: 200, when: (answer) => answer['already_terminal'] === true },
  },
  input: z.object({ run_id: runId, reason: z.string().max(2_000).default('') }),
  output: z.object({ run: runSchema, already_terminal: z.literal(true).optional() }),
  run: async ({ gateway, caller }, { run_id, reason }) => {
    const { store } = gateway;
    const run = findRun(gateway, run_id);
    const wasOver = isTerminalRun(run.state);
    await cancelTree(gateway, run, { by: caller.name, reason });
    const now = runView(store, findRun(gateway, run_id));
    return { run: now, ...(wasOver ? { already_terminal: true as const } : {}) };
  },
});
