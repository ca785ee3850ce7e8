import type { StoredEvent } from '../core/events/index.js';
import { CATALOG, type ErrorCode } from '../core/errors/catalog.js';
import { OrchestratorError } from '../core/errors/error.js';
import { callLocal, streamLocal, type LocalServer } from '../platform/local-http.js';
import type { SessionControl } from './session-control.js';

/** The error of a supervisor as if it were thrown here: its own words, our exit code. */
class RemoteError extends OrchestratorError {
  readonly #hint: string | undefined;

  constructor(code: ErrorCode, message: string, hint: string | undefined) {
    super(code);
    this.message = message;
    this.#hint = hint;
  }

  override get hint(): string | undefined {
    return this.#hint;
  }
}

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
  const { status, body } = await (reads
    ? callLocal(server, { method: 'GET', path: `${path}${query(input)}` })
    : callLocal(server, { method: 'POST', path, body: input }));
  if (status === 200) return body as Record<string, unknown>;
  const problem = (body ?? {}) as { code?: string; detail?: string; hint?: string };
  const code =
    problem.code !== undefined && problem.code in CATALOG ? (problem.code as ErrorCode) : 'INTERNAL';
  throw new RemoteError(code, problem.detail ?? `the supervisor answered ${status}`, problem.hint);
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

/** Lists by repeating the field; reads take no records. */
function query(input: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(input)) {
    for (const one of Array.isArray(value) ? (value as unknown[]) : [value]) {
      if (one !== undefined) search.append(name, typeof one === 'string' ? one : JSON.stringify(one));
    }
  }
  const text = search.toString();
  return text === '' ? '' : `?${text}`;
}
