import type { IncomingMessage } from 'node:http';
import { OrchestratorError } from '../../core/errors/error.js';
import type { TokenIdentity, Tokens } from '../../platform/tokens.js';

const LOOPBACK = new Set(['127.0.0.1', 'localhost', '[::1]']);

/**
 * What every request passes first, MCP, REST and SSE alike: a Host of this machine (a web page that rebinds its name
 * has another one), no Origin or a loopback one, and a bearer token. Throws FORBIDDEN_ORIGIN, UNAUTHENTICATED.
 */
export function admit(request: IncomingMessage, tokens: Tokens, port: number): TokenIdentity {
  checkHost(request.headers.host, port);
  checkOrigin(request.headers.origin, port);
  const match = /^Bearer ([^\s]+)$/i.exec(request.headers.authorization ?? '');
  const identity = match === null ? null : tokens.identify(match[1] ?? '');
  if (identity === null) throw new OrchestratorError('UNAUTHENTICATED');
  return identity;
}

export function checkHost(host: string | undefined, port: number): void {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(host ?? '');
  const known = match !== null && LOOPBACK.has((match[1] ?? '').toLowerCase()) && match[2] === String(port);
  if (!known) throw new OrchestratorError('FORBIDDEN_ORIGIN', { header: 'Host', value: host ?? '' });
}

function checkOrigin(origin: string | undefined, port: number): void {
  if (origin === undefined) return;
  try {
    const { hostname, protocol, port: originPort } = new URL(origin);
    if (protocol === 'http:' && LOOPBACK.has(hostname) && originPort === String(port)) return;
  } catch {
    // `null` and other opaque origins are foreign.
  }
  throw new OrchestratorError('FORBIDDEN_ORIGIN', { header: 'Origin', value: origin });
}
