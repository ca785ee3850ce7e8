type Schema = Record<string, unknown>;

const TEXT = { type: 'string' };

const HEALTH = {
  type: 'object',
  properties: {
    status: { type: 'string', enum: ['ok', 'draining'] },
    service: { type: 'string', const: 'agentd' },
    version: TEXT,
    instance_id: TEXT,
    uptime_s: { type: 'integer' },
  },
  required: ['status', 'service', 'version', 'instance_id', 'uptime_s'],
};

const READY = {
  type: 'object',
  properties: { status: { type: 'string', enum: ['ready', 'not ready'] } },
  required: ['status'],
};

/** What is asked of a daemon by whoever watches it; only `/metrics` wants a token. */
export function healthPaths(problem: Schema): Record<string, Schema> {
  const answer = (schema: Schema, ...statuses: number[]) => ({
    ...Object.fromEntries(
      statuses.map((status) => [
        status,
        { description: status === 200 ? 'yes' : 'no', content: { 'application/json': { schema } } },
      ]),
    ),
    default: problem,
  });
  const open = (operationId: string, summary: string, responses: Schema) => ({
    get: { ...{ operationId, summary, security: [] }, responses },
  });
  return {
    '/health': open('health', 'Whether it takes work: 503 once it stops.', answer(HEALTH, 200, 503)),
    '/healthz': open('liveness', 'Whether it lives, also while it stops.', answer(HEALTH, 200)),
    '/readyz': open(
      'readiness',
      'Whether it has taken up what was left and answers.',
      answer(READY, 200, 503),
    ),
    '/metrics': {
      get: {
        ...{ operationId: 'metrics', summary: 'Figures in the text format of Prometheus.' },
        responses: {
          200: { description: 'done', content: { 'text/plain': { schema: TEXT } } },
          default: problem,
        },
      },
    },
  };
}
