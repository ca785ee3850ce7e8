import type { FastifyInstance } from 'fastify';
import { RUN_STATES } from '../../core/state/states.js';
import type { Gateway } from '../../services/gateway/gateway.js';

const OPEN = { config: { access: 'open' } } as const;

/** `/health` and its like tell nobody more than that we are here. `/metrics` is for those with a token. */
export function addHealth(app: FastifyInstance, gateway: Gateway, isReady: () => boolean): void {
  const { settings, clock, slots, store } = gateway;
  const uptime = () => Math.floor((clock.now() - Date.parse(settings.startedAt)) / 1_000);
  for (const path of ['/health', '/healthz'])
    app.get(path, OPEN, (_request, reply) =>
      reply.code(gateway.isDraining ? 503 : 200).send({
        status: gateway.isDraining ? 'draining' : 'ok',
        service: 'agentd',
        version: settings.version,
        instance_id: settings.instanceId,
        uptime_s: uptime(),
      }),
    );
  app.get('/readyz', OPEN, (_request, reply) => {
    const ready = isReady() && !gateway.isDraining;
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' });
  });
  app.get('/metrics', (_request, reply) => {
    const counts = store.runCounts();
    const lines = [
      '# TYPE agentorchestr_runs gauge',
      ...RUN_STATES.map((state) => `agentorchestr_runs{state="${state}"} ${counts[state] ?? 0}`),
      '# TYPE agentorchestr_pool_size gauge',
      `agentorchestr_pool_size ${slots.size}`,
      '# TYPE agentorchestr_pool_busy gauge',
      `agentorchestr_pool_busy ${slots.running.length}`,
      '# TYPE agentorchestr_events_total counter',
      `agentorchestr_events_total ${store.head()}`,
      '# TYPE agentorchestr_uptime_seconds gauge',
      `agentorchestr_uptime_seconds ${uptime()}`,
    ];
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(`${lines.join('\n')}\n`);
  });
}
