import type { IncomingMessage, ServerResponse } from 'node:http';
import { OrchestratorError } from '../../core/errors/error.js';
import type { TokenIdentity } from '../../platform/tokens.js';
import { readJson, sendJson } from '../shared/http.js';

/**
 * What agents' own hooks post: a body in the agent's words, translated by its adapter. The answer goes back as it is
 * (some agents take orders from it); `{}` means nothing.
 */
export function createHookDoor(
  deliver: (workerId: string, body: unknown, hungUp: AbortSignal) => Promise<unknown>,
) {
  return async (
    request: IncomingMessage,
    response: ServerResponse,
    identity: TokenIdentity,
  ): Promise<void> => {
    if (identity.workerId === null)
      throw new OrchestratorError('FORBIDDEN', {
        scope: identity.scope,
        operation: 'hooks',
        allowed: ['the operations under /api'],
      });
    if (request.method !== 'POST')
      throw new OrchestratorError('INVALID_INPUT', { field: 'method', problem: 'use POST' });
    const body = await readJson(request);
    const hungUp = new AbortController();
    response.once('close', () => {
      if (!response.writableFinished) hungUp.abort();
    });
    sendJson(response, 200, (await deliver(identity.workerId, body, hungUp.signal)) ?? {});
  };
}
