import { z } from 'zod';
import { AGENTS } from '../../../agents/registry.js';
import { providers } from '../agents.js';
import { CLIENTS, defineGatewayOperation } from '../operation.js';
import { openRuns, places, queueCounts } from '../pool-view.js';
import { queueCountsSchema } from './fields.js';

const count = z.number().int();

/** How an agent that has a block of its own name is started. */
const startSchema = z.object({
  profile: z.string().nullable(),
  extra_args: z.array(z.string()),
  binary: z.string().nullable(),
  version: z.string().nullable().describe('not asked for here: agentorchestr --detect'),
});
const named = AGENTS.flatMap(({ name, gateway }) =>
  gateway === undefined ? [] : [{ agent: name, field: gateway.status }],
);

export const daemonStatus = defineGatewayOperation({
  name: 'daemon_status',
  summary: 'Show the daemon: its pool, how many runs are in each state, its agents.',
  ...{ effect: 'read', idempotent: true, scopes: CLIENTS },
  address: { method: 'GET', path: '/daemon/status', status: 200 },
  input: z.object({}),
  output: z.object({
    status: z.enum(['running', 'draining']),
    version: z.string(),
    instance_id: z.string(),
    pid: count,
    started_at: z.string(),
    uptime_s: z.number(),
    db_path: z.string(),
    auth_enabled: z.boolean(),
    default_provider: z.string().nullable(),
    max_concurrency: count,
    alive_workers: count,
    busy_workers: count,
    workers: z.array(
      z.object({
        ...{ worker_id: z.string(), alive: z.boolean(), run_id: z.string().nullable() },
        ...{ last_heartbeat_at: z.string(), restarts: count },
      }),
    ),
    queue_counts: queueCountsSchema,
    oldest_queued_age_s: z.number().nullable().describe('null: nothing is queued'),
    ...(Object.fromEntries(named.map(({ field }) => [field, startSchema])) as Record<never, never>),
    providers: z.array(
      z.object({
        ...{ name: z.string(), kind: z.string(), available: z.boolean(), reason: z.string().nullable() },
      }),
    ),
  }),
  run: async ({ gateway }) => {
    const { settings, store, slots, clock } = gateway;
    const { running, size } = slots;
    const open = openRuns(store);
    const oldest = open.find(({ state }) => state === 'queued');
    const now = clock.now();
    const found = await providers(gateway.agents);
    const blocks = named.map(({ agent, field }) => {
      const { profile = null, extra_args: lines } = gateway.agents.options[agent] ?? {};
      const binary = found.find(({ name }) => name === agent)?.binary ?? null;
      return [field, { profile, extra_args: lines?.split('\n') ?? [], binary, version: null }];
    });
    return {
      status: gateway.isDraining ? ('draining' as const) : ('running' as const),
      ...{ version: settings.version, instance_id: settings.instanceId, pid: settings.pid },
      started_at: settings.startedAt,
      uptime_s: Math.floor((now - Date.parse(settings.startedAt)) / 1_000),
      ...{ db_path: store.path, auth_enabled: settings.authEnabled },
      default_provider: settings.defaultProvider,
      max_concurrency: size,
      alive_workers: gateway.isDraining ? 0 : size,
      busy_workers: running.length,
      workers: places(gateway),
      queue_counts: queueCounts(store, open),
      oldest_queued_age_s:
        oldest === undefined ? null : Math.floor((now - Date.parse(oldest.created_at)) / 1_000),
      ...(Object.fromEntries(blocks) as Record<never, never>),
      providers: found.map(({ binary: _binary, ...provider }) => provider),
    };
  },
});
