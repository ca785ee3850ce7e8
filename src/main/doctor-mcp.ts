import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createMcpDoor } from '../doors/mcp/door.js';
import { admit } from '../doors/shared/guard.js';
import { readJson, sendProblem } from '../doors/shared/http.js';
import { silentLogger } from '../platform/logger.js';
import { createTokens, newSecret } from '../platform/tokens.js';
import { packageVersion } from './manifest.js';

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-03-26', capabilities: {}, clientInfo: { name: 'doctor', version: '0' } },
};

/** What an agent's client does first, against the real guard and the real MCP door, with no session behind them. */
export async function tryMcp(signal: AbortSignal): Promise<{ port: number }> {
  const tokens = createTokens(newSecret(), 'doctor00');
  const door = createMcpDoor({
    operations: () => [],
    version: packageVersion(),
    logger: silentLogger,
    instructions: () => '',
    call: () => Promise.reject(new Error('there is nothing to call')),
    onListed: () => undefined,
    takeNotices: () => [],
  });
  let port = 0;
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    const { scope } = admit(request, tokens, port);
    await door.handle(
      request,
      response,
      { scope, workerId: null, name: 'doctor', callLimitMs: 0 },
      await readJson(request),
    );
  };
  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => sendProblem(response, error));
  });
  const close = () => {
    server.close();
    server.closeAllConnections();
  };
  signal.addEventListener('abort', close, { once: true });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(0, '127.0.0.1', resolve);
    });
    port = (server.address() as AddressInfo).port;
    const refused = await ask(port, 'wrong', signal);
    if (refused.status !== 401) throw new Error(`a call without a token was answered (${refused.status})`);
    const admitted = await ask(port, tokens.issue({ scope: 'client', workerId: null }), signal);
    if (admitted.status !== 200 || !admitted.text.includes('"protocolVersion"'))
      throw new Error(
        `a call with a token was not answered (${admitted.status}): ${admitted.text.slice(0, 200)}`,
      );
    return { port };
  } finally {
    signal.removeEventListener('abort', close);
    await door.close();
    close();
  }
}

function ask(port: number, token: string, signal: AbortSignal): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest({
      host: '127.0.0.1',
      port,
      method: 'POST',
      path: '/mcp',
      agent: false,
      signal,
      headers: {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
    });
    outgoing.once('error', reject);
    outgoing.once('response', (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
      response.once('error', reject);
      response.once('end', () => resolve({ status: response.statusCode ?? 0, text }));
    });
    outgoing.end(JSON.stringify(INITIALIZE));
  });
}
