import { z } from 'zod';
import { OrchestratorError } from '../../../core/errors/error.js';
import { RUN_STATES } from '../../../core/state/states.js';
import { requireOneReady } from '../agents.js';
import { findConversation } from '../conversation-row.js';
import { changeConversation } from '../change-conversation.js';
import { createConversation } from '../create-conversation.js';
import { childrenOf } from '../children/lineage.js';
import { CLIENTS, CLIENTS_AND_ABOVE, defineGatewayOperation } from '../operation.js';
import {
  answerView,
  messageSchema,
  messageView,
  runSchema,
  runView,
  sessionSchema,
  sessionView,
} from '../views.js';
import { changedProviders } from '../wanted-providers.js';
import { idempotencyKey, providers, replay, replayed, sessionId } from './fields.js';

export const createSession = defineGatewayOperation({
  name: 'create_session',
  summary: 'Begin a conversation with an agent in a folder.',
  ...{ effect: 'write', idempotent: false, scopes: CLIENTS },
  address: { method: 'POST', path: '/sessions', status: 201 },
  input: z.object({
    title: z.string().max(500).default(''),
    provider: z.string().max(100).optional().describe("the agent; the daemon's default when absent"),
    providers,
    cwd: z.string().max(4_096).optional().describe("absolute path; the daemon's folder when absent"),
    permissions: z
      .enum(['agent', 'bypass'])
      .default('agent')
      .describe('agent: its own configuration decides what it may do; bypass: it may do everything'),
    metadata: z.record(z.string().max(200), z.unknown()).default({}),
    idempotency_key: idempotencyKey,
  }),
  output: z.object({ session: sessionSchema, idempotent_replay: replay }),
  run: async ({ gateway }, input) => {
    const { session, replayed: was } = await createConversation(gateway, input);
    return { session: sessionView(gateway.store, session), ...replayed(was) };
  },
});

export const listSessions = defineGatewayOperation({
  name: 'list_sessions',
  summary: 'List conversations, newest first.',
  ...{ effect: 'read', idempotent: true, scopes: CLIENTS },
  address: { method: 'GET', path: '/sessions', status: 200 },
  input: z.object({
    limit: z.coerce.number().int().min(1).max(200).default(50),
    cursor: z.string().max(200).optional().describe('next_cursor of the page before'),
  }),
  output: z.object({ sessions: z.array(sessionSchema), next_cursor: z.string().nullable() }),
  run: async ({ gateway }, { limit, cursor }) => {
    const { store } = gateway;
    const before = cursor === undefined ? {} : { before: placeOf(cursor) };
    const rows = store.sessionPage({ kind: 'conversation', limit: limit + 1, ...before });
    const page = rows.slice(0, limit);
    const last = page.at(-1);
    return {
      sessions: page.map((row) => sessionView(store, row)),
      next_cursor: rows.length > limit && last !== undefined ? `${last.created_at}_${last.session_id}` : null,
    };
  },
});

function placeOf(cursor: string): { created_at: string; session_id: string } {
  const [, created_at = '', session_id = ''] =
    /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z)_([0-9a-f]{8})$/.exec(cursor) ?? [];
  if (session_id === '')
    throw new OrchestratorError('INVALID_CURSOR', { cursor, valid: 'it is next_cursor of a page' });
  return { created_at, session_id };
}

export const getSession = defineGatewayOperation({
  name: 'get_session',
  summary: 'Show one conversation with its latest run.',
  ...{ effect: 'read', idempotent: true, scopes: CLIENTS_AND_ABOVE },
  address: { method: 'GET', path: '/sessions/{session_id}', status: 200 },
  input: z.object({ session_id: sessionId }),
  output: z.object({
    session: sessionSchema,
    latest_run: runSchema.nullable(),
    children: z.array(
      z.object({
        session_id: z.string(),
        run_id: z.string().nullable(),
        state: z.enum(RUN_STATES).nullable(),
      }),
    ),
    counts: z.object({ runs: z.number() }),
    cursor: z.string().describe('of this very moment: events after it are not in this answer'),
  }),
  run: async ({ gateway: { store } }, { session_id }) => {
    const row = findConversation(store, session_id);
    const runs = store.runs(session_id);
    const latest = runs.at(-1);
    return {
      session: sessionView(store, row),
      latest_run: latest === undefined ? null : runView(store, latest),
      children: childrenOf(store, session_id).map((child) => {
        const last = store.runs(child.session_id).at(-1);
        return { session_id: child.session_id, run_id: last?.run_id ?? null, state: last?.state ?? null };
      }),
      counts: { runs: runs.length },
      cursor: String(store.head()),
    };
  },
});

export const updateSession = defineGatewayOperation({
  name: 'update_session',
  summary:
    'Rename a conversation, note something about it, give it another provider, archive it or take it up again.',
  ...{ effect: 'write', idempotent: true, scopes: CLIENTS },
  address: { method: 'PATCH', path: '/sessions/{session_id}', status: 200 },
  input: z.object({
    session_id: sessionId,
    title: z.string().max(500).optional(),
    metadata: z.record(z.string().max(200), z.unknown()).optional().describe('replaces all of it'),
    provider: z
      .string()
      .max(100)
      .optional()
      .describe('whom its next runs ask; those that stand in stay. Not while a run is at it'),
    providers,
    state: z.enum(['active', 'idle', 'archived']).optional().describe('active, idle: not archived'),
    status: z.enum(['active', 'idle', 'archived']).optional().describe('the same as state'),
  }),
  output: z.object({ session: sessionSchema }),
  run: async (
    { gateway: { store, agents } },
    { session_id, state, status, provider, providers, ...noted },
  ) => {
    if (state !== undefined && status !== undefined && state !== status)
      throw new OrchestratorError('INVALID_INPUT', { field: 'status', problem: 'it is not what state says' });
    const given = { provider, providers };
    const wanted = changedProviders(given, findConversation(store, session_id).worker_agents);
    if (wanted !== null) await requireOneReady(agents, wanted);
    const change = { ...noted, ...(wanted === null ? {} : { providers: wanted }), state: state ?? status };
    store.transaction((tx) => changeConversation(tx, session_id, change));
    return { session: sessionView(store, findConversation(store, session_id)) };
  },
});

export const archiveSession = defineGatewayOperation({
  name: 'archive_session',
  summary: 'Archive a conversation: it keeps everything and takes no more messages.',
  ...{ effect: 'destroy', idempotent: true, scopes: CLIENTS },
  address: { method: 'DELETE', path: '/sessions/{session_id}', status: 200 },
  input: z.object({ session_id: sessionId }),
  output: z.object({ session: sessionSchema }),
  run: async ({ gateway: { store } }, { session_id }) => {
    store.transaction((tx) => changeConversation(tx, session_id, { state: 'archived' }));
    return { session: sessionView(store, findConversation(store, session_id)) };
  },
});

export const listMessages = defineGatewayOperation({
  name: 'list_messages',
  summary: 'Show what was said in a conversation, oldest first.',
  ...{ effect: 'read', idempotent: true, scopes: CLIENTS_AND_ABOVE },
  address: { method: 'GET', path: '/sessions/{session_id}/messages', status: 200 },
  input: z.object({
    session_id: sessionId,
    limit: z.coerce.number().int().min(1).max(1_000).default(1_000),
    cursor: z.string().max(200).optional().describe('next_cursor of the page before'),
  }),
  output: z.object({ messages: z.array(messageSchema), next_cursor: z.string().nullable() }),
  run: async ({ gateway: { store } }, { session_id, limit, cursor }) => {
    findConversation(store, session_id);
    const all = store
      .workers(session_id)
      .flatMap(({ worker_id, agent }) => [
        ...store.messages(session_id, worker_id).map(messageView),
        ...store.runs(session_id, worker_id).flatMap((run) => answerView(run, run.agent ?? agent) ?? []),
      ]);
    const messages = all.toSorted((one, other) => compare(one.created_at, other.created_at));
    const from = cursor === undefined ? 0 : messages.findIndex(({ id }) => id === cursor) + 1;
    if (cursor !== undefined && from === 0)
      throw new OrchestratorError('INVALID_CURSOR', { cursor, valid: 'it is next_cursor of a page' });
    const page = messages.slice(from, from + limit);
    const hasMore = messages.length > from + page.length;
    return { messages: page, next_cursor: hasMore ? (page.at(-1)?.id ?? null) : null };
  },
});

const compare = (one: string, other: string) => (one < other ? -1 : one > other ? 1 : 0);
