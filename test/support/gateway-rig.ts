import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import type { AgentAdapter } from '../../src/agents/contract.js';
import { scripted } from '../../src/agents/scripted.js';
import type { Clock } from '../../src/core/clock.js';
import { readAgentdOptions } from '../../src/doors/cli/agentd-options.js';
import { agentFlags } from '../../src/main/agentd-flags.js';
import { runGateway, type RunningGateway } from '../../src/main/gateway.js';
import { createTokens } from '../../src/platform/tokens.js';
import type {
  eventSchema,
  messageSchema,
  runSchema,
  sessionSchema,
} from '../../src/services/gateway/views.js';
import { attemptsLeft } from './attempts-left.js';
import { compiledRoot } from './compiled.js';
import { checkAgainst, type Check } from './openapi-check.js';

const LIMIT_MS = 45_000;
/** The first on this state of the sources compiles them, perhaps beside others that do much. */
export const GATEWAY_START_MS = 180_000;
const NO_SCRIPT = 'name: none\nworkers: []\n';
export const TOKEN = 'a-token-of-this-test';

type Run = z.output<typeof runSchema>;
type Session = z.output<typeof sessionSchema>;
type Message = z.output<typeof messageSchema>;
type Event = z.output<typeof eventSchema>;

/** Whatever the addresses answer with; each test says what it expects of it. */
export interface Body {
  readonly session: Session;
  readonly sessions: readonly Session[];
  readonly run: Run;
  readonly latest_run: Run | null;
  readonly message: Message;
  readonly messages: readonly Message[];
  readonly events: readonly Event[];
  readonly cursor: string;
  readonly next_cursor: string | null;
  readonly has_more: boolean;
  readonly done: boolean;
  readonly timed_out: boolean;
  readonly code: string;
  readonly field: string;
  readonly allowed: readonly string[];
  readonly parent: { readonly session_id: string; readonly run_id: string };
  readonly parent_session_id: string;
  readonly event: Event;
  readonly escalation: { readonly id: string; readonly status: string };
  readonly escalations: readonly { readonly id: string; readonly status: string; readonly text: string }[];
  readonly children: readonly { readonly session_id: string }[];
  readonly status: string;
  readonly reply: string;
  readonly instance_id: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
  readonly text: string;
}

/** Other agents than the scripted one, and what is in their environment besides. */
interface Surroundings {
  readonly agents?: readonly AgentAdapter[];
  readonly env?: Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

/** The gateway as `agentd` runs it, in this process: real database, real port, the scripted agent. */
export class GatewayRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'ao-gateway-'));
  readonly token = TOKEN;
  readonly work = join(this.folder, 'work');
  readonly agentProgram = join(this.folder, 'agent.cjs');
  running!: RunningGateway;
  /** Every answer is what the served document says it is. */
  #check: Check | null = null;
  private readonly surroundings: Surroundings;

  constructor(surroundings: Surroundings = {}) {
    this.surroundings = surroundings;
  }

  /** `linkedAgent`: its program is a link of this rig's own, which may be moved away. */
  static async start(
    script: string,
    flags: readonly string[] = [],
    { linkedAgent = false, ...surroundings }: Surroundings & { linkedAgent?: boolean } = {},
  ): Promise<GatewayRig> {
    const rig = new GatewayRig(surroundings);
    if (linkedAgent)
      symlinkSync(join(await compiledRoot(), 'bin/agentorchestr-scripted.cjs'), rig.agentProgram);
    mkdirSync(rig.work);
    writeFileSync(join(rig.folder, 'script.yaml'), script);
    await rig.start(flags);
    return rig;
  }

  /** Also after `stop`: another daemon on the same database. */
  async start(flags: readonly string[] = []): Promise<void> {
    const root = await compiledRoot();
    const program = existsSync(this.agentProgram)
      ? this.agentProgram
      : join(root, 'bin/agentorchestr-scripted.cjs');
    const token = flags.includes('--insecure-no-auth') ? [] : ['--auth-token', TOKEN];
    const options = readAgentdOptions(
      ['--port', '0', '--grace', '5', ...token, ...this.agent(), ...flags],
      this.surroundings.env ?? {},
      this.work,
      agentFlags(this.surroundings.agents ?? []),
    );
    if (typeof options === 'string') throw new Error(options);
    this.running = await runGateway({
      options,
      database: this.database,
      agents: this.surroundings.agents ?? [{ ...scripted, binaries: [program] }],
      env: { PATH: process.env['PATH'], HOME: this.folder, ...this.surroundings.env },
      version: '0.0.0-test',
      agentctl: join(root, 'bin/agentctl.cjs'),
      ...(this.surroundings.clock === undefined ? {} : { clock: this.surroundings.clock }),
    });
  }

  /** The scripted one, where it is among the agents of this rig. */
  agent(): string[] {
    const { agents } = this.surroundings;
    if (agents !== undefined && !agents.some(({ name }) => name === 'scripted')) return [];
    const script = join(this.folder, 'script.yaml');
    if (!existsSync(script)) writeFileSync(script, NO_SCRIPT);
    return ['--default-provider', 'scripted', '--agent-option', `scripted.script=${script}`];
  }

  get database(): string {
    return join(this.folder, 'data', 'gateway.db');
  }

  get store() {
    return this.running.gateway.store;
  }

  async call(
    method: string,
    path: string,
    body?: unknown,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Answer> {
    const response = await fetch(`${this.running.url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    const type = response.headers.get('content-type') ?? '';
    const answer = (type.includes('json') ? JSON.parse(text) : {}) as Body;
    this.#check ??= checkAgainst(await this.#document());
    this.#check({ method, path, status: response.status, type, body: answer });
    return { status: response.status, headers: response.headers, text, body: answer };
  }

  async #document(): Promise<object> {
    return (await (await fetch(`${this.running.url}/openapi.json`)).json()) as object;
  }

  get(path: string): Promise<Answer> {
    return this.call('GET', path);
  }

  post(path: string, body?: unknown, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.call('POST', path, body, headers);
  }

  /** What the agent of this run has in its environment. */
  agentToken(runId: string): string {
    const secret = readFileSync(join(`${this.database}.files`, 'secret'), 'utf8');
    return createTokens(secret, this.store.run(runId)!.session_id).issueForRun(runId);
  }

  async session(): Promise<string> {
    const { body } = await this.post('/sessions');
    return body.session.id;
  }

  /** Resolves with the id of the run. */
  async say(session: string, text: string): Promise<string> {
    const { body } = await this.post(`/sessions/${session}/messages`, { text });
    return body.run.id;
  }

  async over(run: string): Promise<Run> {
    const { body } = await this.get(`/runs/${run}/wait?timeout_s=${LIMIT_MS / 1_000}`);
    if (!body.done) throw new Error(`run ${run} is not over: ${JSON.stringify(body)}`);
    return body.run;
  }

  async until(what: string, condition: () => boolean): Promise<void> {
    const deadline = Date.now() + LIMIT_MS;
    while (!condition()) {
      if (Date.now() > deadline) throw new Error(`waited in vain for ${what}`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
  }

  /** As something that happens in the session, with a text of this size. */
  note(session: string, message: string): void {
    this.store.append({
      ...{ type: 'progress.reported', session_id: session, source: 'supervisor', evidence: 'protocol' },
      data: { message },
    });
  }

  types(session: string): string[] {
    return this.store.events({ after: 0, sessionId: session, limit: 10_000 }).map(({ type }) => type);
  }

  async close(): Promise<void> {
    const attempts = this.store.rows('attempts').map(({ attempt_id: id }) => id);
    await this.running.stop();
    const left = await attemptsLeft(attempts);
    rmSync(this.folder, { recursive: true, force: true });
    if (left > 0) throw new Error(`${left} processes are left`);
  }
}

export interface Frame {
  readonly id: string;
  readonly event: string;
  readonly data: Event;
}

/** Reads a stream of server-sent events until `count` of them have come, or one that `until` names. */
export async function readStream(
  rig: GatewayRig,
  path: string,
  until: (frames: readonly Frame[]) => boolean,
  headers: Record<string, string> = {},
): Promise<Frame[]> {
  const abort = new AbortController();
  const response = await fetch(`${rig.running.url}${path}`, {
    headers: { authorization: `Bearer ${TOKEN}`, accept: 'text/event-stream', ...headers },
    signal: AbortSignal.any([abort.signal, AbortSignal.timeout(LIMIT_MS)]),
  });
  if (response.status !== 200) throw new Error(`the stream answered ${response.status}`);
  const frames: Frame[] = [];
  let rest = '';
  try {
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      const blocks = (rest + chunk).split('\n\n');
      rest = blocks.pop() ?? '';
      for (const block of blocks) {
        const fields = Object.fromEntries(
          block
            .split('\n')
            .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
        ) as Record<string, string>;
        if (fields['data'] !== undefined)
          frames.push({
            id: fields['id'] ?? '',
            event: fields['event'] ?? '',
            data: JSON.parse(fields['data']) as Event,
          });
      }
      if (until(frames)) return frames;
    }
  } finally {
    abort.abort();
  }
  return frames;
}
