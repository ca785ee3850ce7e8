import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { StoredEvent } from '../../src/core/events/index.js';
import { newSessionId } from '../../src/platform/ids.js';
import { isSameProcessAlive } from '../../src/platform/identity.js';
import { resolvePaths } from '../../src/platform/paths.js';
import { systemClock } from '../../src/platform/clock.js';
import { createTokens, type TokenIdentity } from '../../src/platform/tokens.js';
import type * as StartSupervisor from '../../src/main/start-supervisor.js';
import type { TakeUpOrderInput } from '../../src/main/supervisor-order.js';
import type { SessionControl } from '../../src/main/session-control.js';
import type { SessionPlanInput } from '../../src/services/supervise/plan.js';
import { killServer } from '../../src/backends/tmux/attach.js';
import { openStore } from '../../src/store/open-store.js';
import type { Store } from '../../src/store/contract.js';
import { compiledRoot } from './compiled.js';
import { createGitWorld, type GitWorld, type TestRepo } from './repo.js';

/** A lead that takes its prompt and stays in its turn, so that the test can act with the lead's token. */
export const SILENT_LEAD = 'lead:\n  - steps: [{ silence: true }]\n';

type Answer = Record<string, unknown>;

export interface ToolResult {
  readonly isError: boolean;
  readonly answer: Answer;
  readonly text: string;
}

export interface McpCaller {
  readonly client: Client;
  call(tool: string, input?: Record<string, unknown>): Promise<ToolResult>;
  /** The answer; throws when the tool says it failed. */
  ok(tool: string, input?: Record<string, unknown>): Promise<Answer>;
  /** The error's code; throws when the tool succeeded. */
  code(tool: string, input?: Record<string, unknown>): Promise<string>;
}

/** One real session: supervisor, tmux, git, SQLite, scripted agents; everything in a world of its own. */
export class SessionRig {
  readonly world: GitWorld;
  readonly sessionId = newSessionId();
  readonly repo: TestRepo;
  readonly #callers: Client[] = [];
  #store: Store | null = null;

  constructor(options: { env?: Record<string, string>; repo?: (world: GitWorld) => TestRepo } = {}) {
    this.world = createGitWorld({ env: { AGENTORCHESTR_LOG_LEVEL: 'debug', ...options.env } });
    this.repo = options.repo?.(this.world) ?? this.world.repo();
  }

  get env(): Readonly<Record<string, string>> {
    return this.world.sandbox.env;
  }

  get paths() {
    return resolvePaths(this.env);
  }

  /** The session's private folder in the temp directory. */
  get directory(): string {
    return join(this.paths.temp, `agentorchestr-${this.sessionId}`);
  }

  /** The database as another process sees it. */
  get store(): Store {
    this.#store ??= openStore({ path: this.paths.database, clock: systemClock });
    return this.#store;
  }

  async start(
    script: string,
    plan: Partial<SessionPlanInput> = {},
    agentOptions: Readonly<Record<string, string>> = {},
  ): Promise<{ session_id: string; base: string }> {
    const root = await compiledRoot();
    const { startSupervisor } = await compiledSupervisor();
    const scriptPath = join(this.world.sandbox.root, 'script.yaml');
    writeFileSync(scriptPath, script);
    return startSupervisor(
      {
        session_id: this.sessionId,
        goal: 'the goal of this test',
        project: this.repo.path,
        lead_agent: 'scripted',
        worker_agents: ['scripted'],
        binaries: { scripted: join(root, 'bin/agentorchestr-scripted.cjs') },
        agent_options: { scripted: { script: scriptPath, ...agentOptions } },
        verify_commands: [],
        setup_commands: [],
        ...plan,
        limits: { spawns_per_minute: 100, ...plan.limits },
      },
      { paths: this.paths, env: this.env },
    );
  }

  /** Another supervisor for this session, as `--resume` starts it. */
  async takeUp(
    order: Partial<TakeUpOrderInput> = {},
    env: Readonly<Record<string, string>> = this.env,
  ): Promise<{ session_id: string; base: string }> {
    const { takeUpSupervisor } = await compiledSupervisor();
    return takeUpSupervisor(
      { session_id: this.sessionId, terminal: null, ...order },
      { paths: this.paths, env },
    );
  }

  /** Kills the supervisor as nothing else can be killed, and waits until it is gone. */
  async crash(): Promise<void> {
    process.kill(this.control.pid, 'SIGKILL');
    await this.supervisorEnded();
  }

  get control(): SessionControl {
    return JSON.parse(
      readFileSync(join(this.paths.data, 'sessions', this.sessionId, 'control.json'), 'utf8'),
    ) as SessionControl;
  }

  get url(): string {
    return `http://127.0.0.1:${this.control.port}`;
  }

  token(identity: TokenIdentity): string {
    const secret = readFileSync(join(this.paths.data, 'sessions', this.sessionId, 'secret'), 'utf8');
    return createTokens(secret, this.sessionId).issue(identity);
  }

  lead(): Promise<McpCaller> {
    return this.#connect(this.token({ scope: 'lead', workerId: 'lead' }));
  }

  worker(workerId: string): Promise<McpCaller> {
    return this.#connect(this.token({ scope: 'worker', workerId }));
  }

  async #connect(token: string): Promise<McpCaller> {
    const client = new Client({ name: 'test', version: '1' });
    const transport = new StreamableHTTPClientTransport(new URL(`${this.url}/mcp`), {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    });
    await client.connect(transport);
    this.#callers.push(client);
    return mcpCaller(client);
  }

  /** Resolves with the first stored event that matches, from the beginning of the log; fails after `limitMs`. */
  event(what: string, matches: (event: StoredEvent) => boolean, limitMs = 60_000): Promise<StoredEvent> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        unsubscribe();
        const tail = this.events()
          .slice(-15)
          .map((event) => `${event.seq} ${event.type} ${event.worker_id ?? ''}`);
        reject(new Error(`no ${what} within ${limitMs} ms; the log ends with:\n${tail.join('\n')}`));
      }, limitMs);
      let found = false;
      const unsubscribe = this.store.subscribe(0, (event) => {
        if (found || event.seq === null || event.session_id !== this.sessionId || !matches(event)) return;
        found = true;
        clearTimeout(timer);
        setImmediate(() => unsubscribe());
        resolve(event);
      });
    });
  }

  events(): StoredEvent[] {
    return this.store.events({ after: 0, sessionId: this.sessionId, limit: 10_000 });
  }

  types(workerId?: string): string[] {
    return this.events()
      .filter((event) => workerId === undefined || event.worker_id === workerId)
      .map((event) => event.type);
  }

  /** The life of one message so far: accepted, queued, … */
  receipt(messageId: unknown): string[] {
    return this.events()
      .filter(({ data }) => (data as { message_id?: string }).message_id === messageId)
      .map(({ type }) => type.replace('message.', ''));
  }

  request(path: string, init: RequestInit & { token?: string | null } = {}): Promise<Response> {
    const { token = this.control.client_token, ...rest } = init;
    const headers = new Headers(rest.headers);
    if (token !== null) headers.set('authorization', `Bearer ${token}`);
    return fetch(`${this.url}${path}`, { ...rest, headers });
  }

  supervisorAlive(): boolean {
    const { pid, pid_started_at: pidStartedAt, boot_id: bootId } = this.control;
    return isSameProcessAlive({ pid, pidStartedAt, bootId });
  }

  async supervisorEnded(limitMs = 60_000): Promise<void> {
    const deadline = Date.now() + limitMs;
    while (this.supervisorAlive()) {
      if (Date.now() > deadline) throw new Error('the supervisor did not end');
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  }

  /** Ends the silent lead's turn as a person would, so that the end of the session need not wait for its cap. */
  interruptLead(): void {
    this.tmux('send-keys', '-t', this.pane('lead'), 'Escape');
  }

  /** Runs tmux against the session's server, as a person in another terminal would. */
  tmux(...args: string[]): string {
    const socket = this.store.session(this.sessionId)?.tmux_socket ?? '';
    return execFileSync('tmux', ['-S', socket, ...args], { env: this.env, encoding: 'utf8' }).trimEnd();
  }

  pane(workerId: string): string {
    return this.store.worker(this.sessionId, workerId)?.pane_id ?? '';
  }

  screen(workerId: string): string {
    return this.tmux('capture-pane', '-p', '-t', this.pane(workerId));
  }

  supervisorLog(): string {
    const file = join(this.paths.data, 'sessions', this.sessionId, 'supervisor.log');
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }

  /** Ends the session if it runs, its tmux server, and then the world; rebuilding the rows from the log must agree. */
  async close(): Promise<void> {
    const problems: string[] = [];
    if (process.env['AO_TEST_SHOW_LOG'] !== undefined)
      process.stderr.write(
        `${this.supervisorLog()}\n${this.events()
          .map((event) => JSON.stringify(event).slice(0, 300))
          .join('\n')}\n`,
      );
    try {
      await Promise.allSettled(this.#callers.map((client) => client.close()));
      const started = this.#started();
      if (started && this.supervisorAlive()) process.kill(this.control.pid, 'SIGTERM');
      if (started) await this.supervisorEnded();
      if (started) problems.push(...this.store.verifyRebuild());
      const socket = started ? this.store.session(this.sessionId)?.tmux_socket : null;
      if (typeof socket === 'string') await killServer({ socketName: socket, env: this.env });
    } finally {
      this.#store?.close();
      rmSync(this.directory, { recursive: true, force: true });
      await this.world.close();
    }
    if (problems.length > 0) throw new Error(`rows differ from the log:\n${problems.join('\n')}`);
  }

  #started(): boolean {
    try {
      return this.control.pid > 0;
    } catch {
      return false;
    }
  }
}

function mcpCaller(client: Client): McpCaller {
  const call = async (tool: string, input: Record<string, unknown> = {}): Promise<ToolResult> => {
    const result = await client.callTool({ name: tool, arguments: input }, undefined, { timeout: 120_000 });
    const [first] = result.content as { type: string; text: string }[];
    const text = first?.text ?? '';
    const isError = result.isError === true;
    return {
      isError,
      answer: (isError ? JSON.parse(text) : (result.structuredContent ?? {})) as Answer,
      text,
    };
  };
  return {
    client,
    call,
    ok: async (tool, input) => {
      const result = await call(tool, input);
      if (result.isError) throw new Error(`${tool} failed: ${result.text}`);
      return result.answer;
    },
    code: async (tool, input) => {
      const result = await call(tool, input);
      if (!result.isError) throw new Error(`${tool} succeeded: ${result.text}`);
      return (result.answer['error'] as { code: string }).code;
    },
  };
}

export function writeFiles(folder: string, files: Readonly<Record<string, string>>): void {
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
}

async function compiledSupervisor(): Promise<typeof StartSupervisor> {
  const root = await compiledRoot();
  return (await import(join(root, 'dist/main/start-supervisor.js'))) as typeof StartSupervisor;
}
