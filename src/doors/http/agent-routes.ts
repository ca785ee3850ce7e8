import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { OrchestratorError } from '../../core/errors/error.js';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Caller } from '../../services/operation.js';
import { BODY_LIMIT_BYTES, hangUp } from '../shared/http.js';
import { bearerOf } from '../shared/guard.js';

export interface AgentHook {
  readonly workerId: string;
  /** Whose hook it is, as its address says. */
  readonly agent: string | undefined;
  readonly body: unknown;
  /** Aborts when the agent no longer waits for the answer. */
  readonly hungUp: AbortSignal;
}

/** What the agents of conversations themselves call. */
export interface AgentCalls {
  /** The worker of this session that holds the token; null: none does. */
  workerOf(sessionId: string, token: string): string | null;
  /** Who calls with the token of a run; null: it is no such token. */
  callerOf(token: string): Caller | null;
  sessionOf(caller: Caller): string | null;
  mcp(call: {
    request: IncomingMessage;
    response: ServerResponse;
    caller: Caller;
    body: unknown;
  }): Promise<void>;
  hook(sessionId: string, hook: AgentHook): Promise<unknown>;
}

/**
 * `/hooks/{session}`: a body in the agent's words; the answer goes back as it is, `{}` means nothing. `/mcp`: the
 * operations that the holder of the token may call, as tools; `/mcp/{session}`: for the agent of that session only.
 */
export function addAgentRoutes(app: FastifyInstance, calls: AgentCalls): void {
  app.post<{ Params: { session_id: string }; Querystring: { agent?: string } }>(
    '/hooks/:session_id',
    { config: { access: 'agent' }, bodyLimit: BODY_LIMIT_BYTES },
    async (request, reply) => {
      const { session_id: sessionId } = request.params;
      const workerId = calls.workerOf(sessionId, bearerOf(request) ?? '');
      if (workerId === null) throw new OrchestratorError('UNAUTHENTICATED');
      const { agent } = request.query;
      return (
        (await calls.hook(sessionId, { workerId, agent, body: request.body, hungUp: hangUp(reply.raw) })) ??
        {}
      );
    },
  );
  const tools = { method: ['GET', 'POST', 'DELETE'], exposeHeadRoute: false, bodyLimit: BODY_LIMIT_BYTES };
  const answer = async ({ raw: request, body }: FastifyRequest, reply: FastifyReply, caller: Caller) => {
    reply.hijack();
    await calls.mcp({ request, response: reply.raw, caller, body });
  };
  app.route({
    ...{ ...tools, url: '/mcp' },
    handler: (request, reply) => answer(request, reply, request.caller),
  });
  app.route<{ Params: { session_id: string } }>({
    ...{ ...tools, url: '/mcp/:session_id', config: { access: 'agent' } },
    async handler(request, reply) {
      const caller = calls.callerOf(bearerOf(request) ?? '');
      if (caller === null || calls.sessionOf(caller) !== request.params.session_id)
        throw new OrchestratorError('UNAUTHENTICATED');
      await answer(request, reply, caller);
    },
  });
}
