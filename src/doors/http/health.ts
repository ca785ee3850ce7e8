import type { FastifyInstance } from 'fastify';
import { OrchestratorError } from '../../core/errors/error.js';
import type { Gateway } from '../../services/gateway/gateway.js';
import type { Metrics } from '../../services/gateway/metrics.js';

const OPEN = { config: { access: 'open' } } as const;

/** `/health` and its like tell nobody more than that we are here. `/metrics` is for those with a token. */
export function addHealth(
  app: FastifyInstance,
  gateway: Gateway,
  { isReady, metrics }: { isReady: () => boolean; metrics: Metrics },
): void {
  const { settings, clock } = gateway;
  const uptime = () => Math.floor((clock.now() - Date.parse(settings.startedAt)) / 1_000);
  const health = () => ({
    status: gateway.isDraining ? 'draining' : 'ok',
    service: 'agentd',
    version: settings.version,
    instance_id: settings.instanceId,
    uptime_s: uptime(),
  });
  app.get('/health', OPEN, (_request, reply) => reply.code(gateway.isDraining ? 503 : 200).send(health()));
  // Whether it lives: who restarts what does not must let one that stops come to its end.
  app.get('/healthz', OPEN, (_request, reply) => reply.send(health()));
  app.get('/readyz', OPEN, (_request, reply) => {
    const ready = isReady() && !gateway.isDraining;
    return reply.code(ready ? 200 : 503).send({ status: ready ? 'ready' : 'not ready' });
  });
  app.get('/metrics', ({ caller: { scope } }, reply) => {
    if (scope === 'run')
      throw new OrchestratorError('FORBIDDEN', { scope, operation: 'metrics', allowed: [] });
    return reply.type('text/plain; version=0.0.4; charset=utf-8').send(metrics.text());
  });
}
