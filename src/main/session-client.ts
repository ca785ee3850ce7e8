import type { StoredEvent } from '../core/events/index.js';
import { queryOf } from '../doors/shared/query.js';
import { callLocal, streamLocal, type LocalServer } from '../platform/local-http.js';
import { remoteError } from './remote-error.js';
import type { SessionControl } from './session-control.js';

export function serverOf(control: SessionControl): LocalServer {
  return { port: control.port, token: control.client_token };
}

export interface SessionCall {
  readonly operation: string;
  /** It changes nothing. */
  readonly reads: boolean;
  readonly input: Readonly<Record<string, unknown>>;
}

/** Calls an operation at the session's supervisor. Throws what it answered, or ConnectionLost. */
export async function callSupervisor(
  server: LocalServer,
  { operation, reads, input }: SessionCall,
): Promise<Record<string, unknown>> {
  const path = `/api/${operation.replaceAll('_', '-')}`;
  const answer = await (reads
    ? callLocal(server, { method: 'GET', path: `${path}${queryOf(input)}` })
    : callLocal(server, { method: 'POST', path, body: input }));
  if (answer.status === 200) return answer.body as Record<string, unknown>;
  throw remoteError(answer, 'the supervisor');
}

/** Durable events after `after`, until the supervisor closes the stream. Throws ConnectionLost. */
export async function* streamSupervisor(
  server: LocalServer,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<StoredEvent> {
  for await (const data of streamLocal(server, `/events?after=${after}`, signal)) {
    const event = data as StoredEvent | (Omit<StoredEvent, 'seq'> & { seq: null });
    if (event.seq !== null) yield event;
  }
}
