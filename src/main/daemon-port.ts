import { createServer } from 'node:net';
import { z } from 'zod';
import { within } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import { systemClock } from '../platform/clock.js';
import { addressOf } from './daemon-access.js';

const PROBE_LIMIT_MS = 1_000;
const health = z.object({
  ...{ service: z.literal('agentd'), version: z.string(), instance_id: z.string() },
  status: z.enum(['ok', 'draining']),
});

interface Place {
  readonly host: string;
  readonly port: number;
}

/** Throws PORT_IN_USE, and says what is there; PORT_NOT_OPENED. */
export async function listenOn(
  app: { listen(host: string, port: number): Promise<number> },
  place: Place,
): Promise<number> {
  return app.listen(place.host, place.port).catch((error: unknown) => refused(error, place));
}

/** Before anything is made that a start without a port would leave. Throws as `listenOn` does. */
export async function checkPort(place: Place): Promise<void> {
  const problem = await tryToListen(place);
  if (problem !== null) await refused(problem, place);
}

/** The only way to know; the port is given back at once. null: it is free. */
export function tryToListen({ host, port }: Place): Promise<NodeJS.ErrnoException | null> {
  return new Promise((done) => {
    const server = createServer();
    server.once('error', done);
    server.listen({ host, port, exclusive: true }, () => server.close(() => done(null)));
  });
}

async function refused(error: unknown, { host, port }: Place): Promise<never> {
  const { code = '', syscall = '' } = error as NodeJS.ErrnoException;
  if (['listen', 'bind', 'getaddrinfo'].includes(syscall) && code !== 'EADDRINUSE')
    throw new OrchestratorError('PORT_NOT_OPENED', { host, port, code });
  if (code !== 'EADDRINUSE') throw error;
  throw new OrchestratorError('PORT_IN_USE', {
    host,
    port,
    by: nameOf(await healthAt(addressOf(host, port))),
  });
}

export type Health = z.output<typeof health>;

/** What an agentd at this address says of itself; null: something else is there, or nothing answers. */
export async function healthAt(url: string): Promise<Health | null> {
  const over = new AbortController();
  try {
    return await within(systemClock, PROBE_LIMIT_MS, healthOf(url, over.signal), null);
  } finally {
    over.abort();
  }
}

export function nameOf(health: Health | null): string {
  if (health === null) return 'another program';
  return `another agentd with another database (version ${health.version}, instance ${health.instance_id})`;
}

async function healthOf(url: string, signal: AbortSignal): Promise<Health | null> {
  try {
    const response = await fetch(`${url}/health`, { signal });
    return health.parse(await response.json());
  } catch {
    return null;
  }
}
