import { delay } from '../core/clock.js';
import { OrchestratorError } from '../core/errors/error.js';
import { chat } from './chat.js';
import type { ModelAnswer, ModelCall, ModelFormat } from './contract.js';
import type { WireFormat } from './format.js';
import { messages } from './messages.js';
import { serverEvents } from './server-events.js';

const FORMATS: Readonly<Record<ModelFormat, WireFormat>> = { messages, chat };
const MOST_TRIES = 5;
const FIRST_WAIT_MS = 1_000;
/** Whoever is told to wait longer than this is told so instead. */
const LONGEST_WAIT_MS = 60_000;
const MOST_OF_AN_ERROR = 300;

/** It may be asked again. */
class Away extends Error {
  readonly waitMs: number | null;
  readonly limited: boolean;

  constructor(problem: string, more: { waitMs?: number | null; limited?: boolean } = {}) {
    super(problem);
    this.waitMs = more.waitMs ?? null;
    this.limited = more.limited ?? false;
  }
}

/** See `AskModel`. */
export async function askModel(call: ModelCall): Promise<ModelAnswer> {
  const { place, signal, clock } = call;
  for (let tries = 1; ; tries++) {
    try {
      return await askOnce(call);
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Away)) throw error;
      const waitMs = error.waitMs ?? Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1));
      if (tries === MOST_TRIES || waitMs > LONGEST_WAIT_MS)
        throw new OrchestratorError(error.limited ? 'MODEL_LIMITED' : 'MODEL_UNAVAILABLE', {
          ...{ provider: place.provider, problem: error.message, tries },
          ...(waitMs > LONGEST_WAIT_MS ? { wait_s: Math.ceil(waitMs / 1_000) } : {}),
        });
      call.onWait(error.message, waitMs);
      await delay(clock, waitMs, signal);
      signal.throwIfAborted();
    }
  }
}

async function askOnce(call: ModelCall): Promise<ModelAnswer> {
  const { place, signal } = call;
  const response = await fetch(place.url, {
    ...{ method: 'POST', signal, redirect: 'error' },
    headers: { ...place.headers, 'content-type': 'application/json', accept: 'text/event-stream' },
    body: JSON.stringify(FORMATS[place.format].body(place, call.messages)),
  }).catch((error: unknown) => {
    throw new Away(causeOf(error));
  });
  if (!response.ok) throw await refusal(call, response);
  return whole(call, response);
}

/** Its answer to the end: one that breaks off or was cut is none. */
async function whole(call: ModelCall, response: Response): Promise<ModelAnswer> {
  const { place, signal } = call;
  const answer = { text: '', inputTokens: null as number | null, outputTokens: null as number | null };
  let isTaken = false;
  let cut: string | null = null;
  const brokenOff = (problem: string) => {
    // Nobody has seen anything of it yet.
    if (answer.text === '') return new Away(problem);
    return new OrchestratorError('MODEL_BROKEN_OFF', { provider: place.provider, problem });
  };
  try {
    if (response.body === null) throw brokenOff('an answer without a body');
    for await (const data of serverEvents(response.body)) {
      for (const heard of FORMATS[place.format].read(data)) {
        if (heard.heard === 'error') throw brokenOff(heard.message);
        if (!isTaken) call.onTaken();
        isTaken = true;
        if (heard.heard === 'text') {
          answer.text += heard.text;
          call.onText(heard.text);
        } else if (heard.heard === 'usage') {
          answer.inputTokens = heard.input ?? answer.inputTokens;
          answer.outputTokens = heard.output ?? answer.outputTokens;
        } else if (heard.heard === 'cut') cut ??= heard.why;
        else if (cut === null) return answer;
        else
          throw new OrchestratorError('MODEL_BROKEN_OFF', {
            provider: place.provider,
            problem: `it stopped before its answer was whole (${cut})`,
          });
      }
    }
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof OrchestratorError || error instanceof Away) throw error;
    throw brokenOff(causeOf(error));
  }
  throw brokenOff('the answer ended in the middle');
}

async function refusal({ place, clock }: ModelCall, response: Response): Promise<Error> {
  const { provider, model } = place;
  const { status } = response;
  const problem = `${status} ${wordsOf(await response.text().catch(() => ''))}`.trim();
  if (status === 429) return new Away(problem, { waitMs: retryAfter(response, clock.now()), limited: true });
  if (status === 408 || status >= 500)
    return new Away(problem, { waitMs: retryAfter(response, clock.now()) });
  if (status === 401 || status === 403) return new OrchestratorError('MODEL_LOGIN', { provider, problem });
  return new OrchestratorError('MODEL_REFUSED', { provider, model, problem });
}

/** Milliseconds; null where it does not say. */
function retryAfter({ headers }: Response, now: number): number | null {
  const given = headers.get('retry-after');
  if (given === null || given.trim() === '') return null;
  const seconds = Number(given);
  const ms = Number.isNaN(seconds) ? Date.parse(given) - now : seconds * 1_000;
  return Number.isNaN(ms) ? null : Math.max(0, ms);
}

/** What an error body says, in whatever form. */
function wordsOf(body: string): string {
  try {
    const { error } = JSON.parse(body) as { error?: { message?: unknown } | string };
    const message = typeof error === 'string' ? error : error?.message;
    if (typeof message === 'string') return message.slice(0, MOST_OF_AN_ERROR);
  } catch {
    // Not JSON: as it is.
  }
  return body.trim().slice(0, MOST_OF_AN_ERROR);
}

function causeOf(error: unknown): string {
  const { cause, message } = error as { cause?: { code?: string; message?: string }; message?: string };
  return cause?.message ?? cause?.code ?? message ?? String(error);
}
