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
  const identity = tokens.identify(bearerOf(request) ?? '');
  if (identity === null) throw new OrchestratorError('UNAUTHENTICATED');
  return identity;
}

/** null: the request brings none. */
export function bearerOf({ headers }: Pick<IncomingMessage, 'headers'>): string | null {
  return /^Bearer ([^\s]+)$/i.exec(headers.authorization ?? '')?.[1] ?? null;
}

/** `names`: what this machine is called besides its loopback names, as the person said. */
export function checkHost(host: string | undefined, port: number, names: readonly string[] = []): void {
  const match = /^(\[[^\]]*\]|[^:]*)(?::(\d+))?$/.exec(host ?? '');
  const name = (match?.[1] ?? '').toLowerCase();
  const known = isOwnName(name, names) && (match?.[2] ?? '80') === String(port);
  if (!known) throw new OrchestratorError('FORBIDDEN_ORIGIN', { header: 'Host', value: host ?? '' });
}

function isOwnName(name: string, names: readonly string[]): boolean {
  return LOOPBACK.has(name) || names.includes(name);
}

export function checkOrigin(origin: string | undefined, port: number, names: readonly string[] = []): void {
  if (origin === undefined) return;
  try {
    const { hostname, protocol, port: given } = new URL(origin);
    const originPort = given === '' ? '80' : given;
    if (protocol === 'http:' && isOwnName(hostname, names) && originPort === String(port)) return;
  } catch {
    // `null` and other opaque origins are foreign.
  }
  throw new OrchestratorError('FORBIDDEN_ORIGIN', { header: 'Origin', value: origin });
}
