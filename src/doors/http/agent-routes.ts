import type { FastifyInstance } from 'fastify';
import { OrchestratorError } from '../../core/errors/error.js';
import { BODY_LIMIT_BYTES } from '../shared/http.js';
import { bearerOf } from '../shared/guard.js';
import { hangUp } from './routes.js';

/** What the agents of conversations themselves call. */
export interface AgentCalls {
  /** The worker of this session that holds the token; null: none does. */
  workerOf(sessionId: string, token: string): string | null;
  hook(sessionId: string, workerId: string, body: unknown, hungUp: AbortSignal): Promise<unknown>;
}

/** `/hooks/{session}`: a body in the agent's words; the answer goes back as it is, `{}` means nothing. */
export function addAgentRoutes(app: FastifyInstance, calls: AgentCalls): void {
  app.post<{ Params: { session_id: string } }>(
    '/hooks/:session_id',
    { config: { access: 'agent' }, bodyLimit: BODY_LIMIT_BYTES },
    async (request, reply) => {
      const { session_id: sessionId } = request.params;
      const workerId = calls.workerOf(sessionId, bearerOf(request) ?? '');
      if (workerId === null) throw new OrchestratorError('UNAUTHENTICATED');
      return (await calls.hook(sessionId, workerId, request.body, hangUp(reply))) ?? {};
    },
  );
}
