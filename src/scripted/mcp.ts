import type { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { delay, type Clock } from '../core/clock.js';
import { StepFailure } from './template.js';

export interface ToolResult {
  readonly isError: boolean;
  /** The structured content, else the text as JSON, else `{text}`. */
  readonly value: unknown;
}

export interface CallOptions {
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  /** Try again when the connection broke in the middle of the call. */
  readonly retry: boolean;
  onProgress(message: string): void;
  onAway(): void;
}

interface Settings {
  readonly url: string | null;
  readonly token: string | null;
  readonly patienceMs: number;
  readonly clock: Clock;
}

const RETRY_MS = 200;

/**
 * Our MCP client. Connects with the first call. When the server is away it waits for it up to `patienceMs`, keeps
 * its session if the server still knows it and starts a new one if not.
 */
export class McpConnection {
  private readonly settings: Settings;
  private client: Promise<Client> | null = null;
  /** Rejects the calls of the present connection when an answer's stream ends early. */
  private broken: AbortController = new AbortController();

  constructor(settings: Settings) {
    this.settings = settings;
  }

  /** Throws StepFailure when there is no server (any more), and the signal's reason when it aborts. */
  async call(tool: string, input: Record<string, unknown>, options: CallOptions): Promise<ToolResult> {
    const { clock, patienceMs } = this.settings;
    const until = clock.now() + patienceMs;
    for (;;) {
      try {
        return await this.callOnce(tool, input, options);
      } catch (error) {
        options.signal.throwIfAborted();
        const trouble = classify(error);
        if (trouble === 'other' || (trouble === 'lost' && !options.retry) || clock.now() > until)
          throw new StepFailure(`${tool}: ${(error as Error).message}`);
        if (trouble !== 'away') await this.forget();
        options.onAway();
        await delay(clock, RETRY_MS, options.signal);
      }
    }
  }

  private async callOnce(
    tool: string,
    input: Record<string, unknown>,
    options: CallOptions,
  ): Promise<ToolResult> {
    this.client ??= this.connect();
    const client = await this.client.catch((error: unknown) => {
      this.client = null;
      throw error;
    });
    const signal = AbortSignal.any([options.signal, this.broken.signal]);
    const answer = await client.callTool({ name: tool, arguments: input }, undefined, {
      signal,
      timeout: options.timeoutMs,
      resetTimeoutOnProgress: true,
      onprogress: (progress) => options.onProgress(progress.message ?? ''),
    });
    return { isError: answer.isError === true, value: answer.structuredContent ?? textValue(answer.content) };
  }

  /** The SDK is loaded here, not with the program: the screen is up 200 ms sooner. */
  private async connect(): Promise<Client> {
    const { url, token } = this.settings;
    if (url === null) throw new StepFailure('no MCP server was given (--mcp-url)');
    const { Client } = await import('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } =
      await import('@modelcontextprotocol/sdk/client/streamableHttp.js');
    this.broken = new AbortController();
    const transport = new StreamableHTTPClientTransport(new URL(url), {
      requestInit: { headers: token === null ? {} : { authorization: `Bearer ${token}` } },
      fetch: watchedFetch(this.broken),
    });
    const client = new Client({ name: 'agentorchestr-scripted', version: '1' });
    client.onerror = () => undefined;
    // Its first answer may break off like any other; without the signal it would be waited for a minute.
    await client.connect(transport, { signal: this.broken.signal });
    return client;
  }

  private async forget(): Promise<void> {
    const client = this.client;
    this.client = null;
    await client?.then((open) => open.close()).catch(() => undefined);
  }
}

class ConnectionLost extends Error {}

/**
 * The SDK leaves a call hanging when the stream of its answer breaks off or ends without the answer. So the streams of
 * answers to POST are watched; such an end breaks the connection's calls, to be made anew.
 */
function watchedFetch(broken: AbortController): typeof fetch {
  return async (input, init) => {
    const response = await fetch(input, init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream') === true;
    if (init?.method !== 'POST' || response.body === null || !isStream) return response;
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    const sawAnswer = answerDetector();
    const lost = () => {
      if (init.signal?.aborted !== true)
        broken.abort(new ConnectionLost('the connection to the MCP server was lost'));
    };
    const body = new ReadableStream<Uint8Array>({
      async pull(controller) {
        try {
          const part = await reader.read();
          if (part.done) {
            controller.close();
            if (!sawAnswer()) lost();
          } else {
            sawAnswer(part.value);
            controller.enqueue(part.value);
          }
        } catch (error) {
          if (!sawAnswer()) lost();
          controller.error(error);
        }
      },
      cancel: (reason) => reader.cancel(reason),
    });
    return new Response(body, {
      status: response.status,
      statusText: response.statusText,
      headers: response.headers,
    });
  };
}

/** Feed it the bytes of one answer's stream; it says whether a JSON-RPC result or error went by. */
function answerDetector(): (bytes?: Uint8Array) => boolean {
  let seen = false;
  let tail = '';
  return (bytes) => {
    if (bytes !== undefined && !seen) {
      const text = tail + Buffer.from(bytes).toString('latin1');
      seen = /"(result|error)":/.test(text);
      tail = text.slice(-16);
    }
    return seen;
  };
}

/** away: nothing was sent. stale: the server does not know our session. lost: sent, answer unknown. */
function classify(error: unknown): 'away' | 'stale' | 'lost' | 'other' {
  if (error instanceof StepFailure) return 'other';
  if (!(error instanceof Error)) return 'other';
  if (error instanceof ConnectionLost || error.cause instanceof ConnectionLost) return 'lost';
  const reason = `${error.message} ${codesOf(error)}`;
  if (/connection to the MCP server was lost|Connection closed/.test(reason)) return 'lost';
  if (/ECONNREFUSED|ENOENT/.test(reason)) return 'away';
  if (/\b404\b|[Ss]ession not found/.test(reason)) return 'stale';
  return /fetch failed|ECONNRESET|EPIPE|socket|terminated|\b50[234]\b/.test(reason) ? 'lost' : 'other';
}

interface WithCode {
  readonly code?: string | number;
}

/** The codes of an error, of its cause, and of what an aggregate holds (one per address tried). */
function codesOf(error: Error): string {
  const cause = error.cause as (WithCode & { errors?: readonly WithCode[] }) | undefined;
  return [error as WithCode, cause, ...(cause?.errors ?? [])].map((one) => one?.code ?? '').join(' ');
}

function textValue(content: unknown): unknown {
  const text = (Array.isArray(content) ? content : [])
    .map((part: { type?: string; text?: string }) => part.text ?? '')
    .join('\n');
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { text };
  }
}
