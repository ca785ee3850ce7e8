import { z } from 'zod';
import { waitLimitMs } from '../../operation.js';
import { CLIENTS_AND_ABOVE, defineGatewayOperation } from '../operation.js';
import { readEvents } from '../read-events.js';
import { eventSchema, eventView } from '../views.js';
import { runId, sessionId } from './fields.js';

export const listEvents = defineGatewayOperation({
  name: 'list_events',
  summary: 'Read the events of a conversation after a cursor, oldest first.',
  ...{ effect: 'read', idempotent: true, waits: true, scopes: CLIENTS_AND_ABOVE },
  address: { method: 'GET', path: '/sessions/{session_id}/events', status: 200 },
  input: z.object({
    session_id: sessionId,
    cursor: z.string().max(40).optional().describe('events after it; "latest": only new ones; absent: all'),
    limit: z.coerce.number().int().min(1).max(1_000).default(100),
    types: z.array(z.string().max(100)).max(100).default([]).describe('only these; may be repeated'),
    run_id: runId.optional(),
    wait_s: z.coerce.number().min(0).max(60).default(0).describe('wait so long for the first one'),
  }),
  output: z.object({ events: z.array(eventSchema), next_cursor: z.string(), has_more: z.boolean() }),
  run: async ({ gateway, caller, signal }, { wait_s, ...input }) => {
    const waitMs = waitLimitMs(caller, wait_s * 1_000);
    const page = await readEvents(gateway, { ...input, waitMs }, signal);
    return { events: page.events.map(eventView), next_cursor: page.nextCursor, has_more: page.hasMore };
  },
});
