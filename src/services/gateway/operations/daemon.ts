import { z } from 'zod';
import { RUN_STATES, type RunState } from '../../../core/state/states.js';
import { providers } from '../agents.js';
import { CLIENTS, defineGatewayOperation } from '../operation.js';

const count = z.number().int();
const counts = Object.fromEntries(RUN_STATES.map((state) => [`${state}_count`, count])) as {
  [State in RunState as `${State}_count`]: typeof count;
};

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
    workers: z.array(z.object({ worker_id: z.string(), alive: z.boolean(), run_id: z.string().nullable() })),
    queue_counts: z.object(counts),
    providers: z.array(z.object({ name: z.string(), available: z.boolean(), reason: z.string().nullable() })),
  }),
  run: async ({ gateway }) => {
    const { settings, store, slots, clock } = gateway;
    const { running, size } = slots;
    const found = store.runCounts();
    const queue_counts = Object.fromEntries(
      RUN_STATES.map((state) => [`${state}_count`, found[state] ?? 0]),
    ) as { [State in RunState as `${State}_count`]: number };
    return {
      status: gateway.isDraining ? ('draining' as const) : ('running' as const),
      ...{ version: settings.version, instance_id: settings.instanceId, pid: settings.pid },
      started_at: settings.startedAt,
      uptime_s: Math.floor((clock.now() - Date.parse(settings.startedAt)) / 1_000),
      ...{ db_path: store.path, auth_enabled: settings.authEnabled },
      default_provider: settings.defaultProvider,
      max_concurrency: size,
      alive_workers: gateway.isDraining ? 0 : size,
      busy_workers: running.length,
      workers: Array.from({ length: Math.max(size, running.length) }, (_, index) => ({
        worker_id: `worker-${index + 1}`,
        alive: !gateway.isDraining,
        run_id: running[index] ?? null,
      })),
      queue_counts,
      providers: await providers(gateway.agents),
    };
  },
});
