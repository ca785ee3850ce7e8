import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gunzipSync } from 'node:zlib';
import { lastExchange, type Conversation, type Exchange } from './conversation.js';
import { anthropic } from './anthropic.js';
import type { Rule, Spoken, Step } from './reply.js';
import { responses } from './responses.js';

/** One wire format: which requests are its own, how they read, how an answer is written. */
export interface WireFormat {
  readonly name: string;
  handles(method: string, path: string): boolean;
  /** Requests that are not for the model (token counts, lists of models) are answered at once; else null. */
  aside(path: string, body: unknown): unknown;
  read(body: unknown): Conversation;
  answer(response: ServerResponse, reply: Reply): Promise<void>;
  failure(status: number, message: string): unknown;
}

export interface Reply {
  readonly step: Spoken;
  readonly conversation: Conversation;
  readonly stream: boolean;
  readonly drop: boolean;
}

export interface RecordedRequest {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: unknown;
  /** null for requests that are not for the model. */
  readonly exchange: Exchange | null;
  readonly rule: string | null;
}

const FORMATS: readonly WireFormat[] = [anthropic, responses];

/** A model on loopback that plays rules. It keeps no conversation: every answer follows from the request alone. */
export class MockLlm {
  readonly requests: RecordedRequest[] = [];
  readonly #rules: Rule[] = [];
  readonly #failures = new Map<string, number>();
  readonly #waiting = new Set<() => void>();
  readonly #server = createServer((request, response) => {
    this.#handle(request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: String(error) }));
    });
  });

  static async start(...rules: Rule[]): Promise<MockLlm> {
    const llm = new MockLlm();
    llm.#rules.push(...rules);
    await new Promise<void>((resolve) => llm.#server.listen(0, '127.0.0.1', resolve));
    return llm;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Later rules win. */
  rule(...rules: Rule[]): void {
    this.#rules.unshift(...rules);
  }

  /** The prompts the model was really given, oldest first, one per prompt (retries and tool rounds are not new ones). */
  prompts(): string[] {
    return this.requests.flatMap(({ exchange }) =>
      exchange === null || exchange.step > 0 ? [] : [exchange.prompt],
    );
  }

  /** Resolves with the first request that matches, past ones included. */
  async request(matches: (request: RecordedRequest) => boolean, limitMs = 30_000): Promise<RecordedRequest> {
    const deadline = Date.now() + limitMs;
    for (;;) {
      const found = this.requests.find(matches);
      if (found !== undefined) return found;
      const left = deadline - Date.now();
      if (left <= 0)
        throw new Error(
          `no such request within ${limitMs} ms; the model was asked:\n${JSON.stringify(this.prompts(), null, 1)}`,
        );
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          this.#waiting.delete(done);
          resolve();
        };
        const timer = setTimeout(done, left);
        this.#waiting.add(done);
      });
    }
  }

  async close(): Promise<void> {
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
      this.#server.closeAllConnections();
    });
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? '/').split('?')[0] ?? '/';
    const body = await readBody(request);
    const format = FORMATS.find((candidate) => candidate.handles(request.method ?? 'GET', path));
    const record = (exchange: Exchange | null, rule: string | null) => {
      this.requests.push({ path, headers: request.headers, body, exchange, rule });
      for (const wake of [...this.#waiting]) wake();
    };
    if (format === undefined) {
      record(null, null);
      return json(response, 404, { error: { type: 'not_found_error', message: `nothing at ${path}` } });
    }
    const aside = format.aside(path, body);
    if (aside !== null) {
      record(null, null);
      return json(response, 200, aside);
    }
    const conversation = format.read(body);
    const exchange = lastExchange(conversation);
    const isAside = conversation.aside === true;
    const rule = isAside ? ASIDE : (this.#rules.find((candidate) => candidate.when(exchange)) ?? ECHO);
    record(isAside ? null : exchange, rule.name);
    const { step, drop } = this.#next(rule, exchange, JSON.stringify(body));
    if ('fail' in step) {
      const { status, message, retryAfterS } = step.fail;
      const headers = retryAfterS === undefined ? {} : { 'retry-after': String(retryAfterS) };
      return json(response, status, format.failure(status, message), headers);
    }
    const gone = new Promise<void>((resolve) => response.on('close', () => resolve()));
    if (step.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, step.delayMs));
    if (step.until !== undefined) await Promise.race([step.until, gone]);
    const stream = (body as { stream?: boolean } | null)?.stream === true;
    await format.answer(response, { step, conversation, stream, drop });
  }

  #next(
    rule: Rule,
    exchange: Exchange,
    request: string,
  ): { step: Spoken | Extract<Step, { fail: object }>; drop: boolean } {
    const planned = rule.play ?? rule.steps[exchange.step];
    const step = typeof planned === 'function' ? planned(exchange) : (planned ?? { text: 'ok' });
    if (!('fail' in step) && !('drop' in step)) return { step, drop: false };
    const key = createHash('sha256').update(request).digest('hex');
    const seen = this.#failures.get(key) ?? 0;
    this.#failures.set(key, seen + 1);
    if (step.times !== undefined && seen >= step.times)
      return { step: step.afterwards ?? { text: 'ok' }, drop: false };
    return 'fail' in step ? { step, drop: false } : { step: { text: 'This answer breaks off' }, drop: true };
  }
}

const ASIDE: Rule = { name: 'aside', when: () => true, steps: [{ text: 'A title' }] };

/** What nobody wrote a rule for is answered so that the test can see what arrived. */
const ECHO: Rule = {
  name: 'echo',
  when: () => true,
  steps: [({ prompt }) => ({ text: `MOCK-REPLY bytes=${Buffer.byteLength(prompt)}` })],
};

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const raw = Buffer.concat(chunks);
  if (raw.length === 0) return null;
  const plain = request.headers['content-encoding'] === 'gzip' ? gunzipSync(raw) : raw;
  return JSON.parse(plain.toString('utf8'));
}

function json(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
