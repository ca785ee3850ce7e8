import { z } from 'zod';
import { within } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import { systemClock } from '../platform/clock.js';
import { addressOf } from './daemon-access.js';

const PROBE_LIMIT_MS = 1_000;
const health = z.object({ service: z.literal('agentd'), version: z.string(), instance_id: z.string() });

/** Throws PORT_IN_USE, and says what is there. */
export async function listenOn(
  app: { listen(host: string, port: number): Promise<number> },
  { host, port }: { readonly host: string; readonly port: number },
): Promise<number> {
  try {
    return await app.listen(host, port);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EADDRINUSE') throw error;
    throw new OrchestratorError('PORT_IN_USE', { host, port, by: await whoIsAt(addressOf(host, port)) });
  }
}

async function whoIsAt(url: string): Promise<string> {
  const over = new AbortController();
  try {
    return await within(systemClock, PROBE_LIMIT_MS, answerOf(url, over.signal), 'another program');
  } finally {
    over.abort();
  }
}

async function answerOf(url: string, signal: AbortSignal): Promise<string> {
  const response = await fetch(`${url}/health`, { signal });
  const { version, instance_id: instance } = health.parse(await response.json());
  return `another agentd with another database (version ${version}, instance ${instance})`;
}
