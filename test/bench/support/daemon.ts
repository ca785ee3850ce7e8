import { spawn, type ChildProcess } from 'node:child_process';
import { copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { get, type IncomingMessage } from 'node:http';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { compiledRoot } from '../../support/compiled.js';

const TOKEN = 'a-token-of-this-bench';
const RUN_LIMIT_S = 60;
export const SPEAKER = fileURLToPath(new URL('speaker.cjs', import.meta.url));

interface Answer {
  readonly session: { readonly id: string };
  readonly run: { readonly id: string; readonly state: string };
  readonly done: boolean;
}

/** `agentd` as a process of its own, over a copy of the package in which the built-in agent is the speaker. */
export class BenchDaemon {
  readonly folder = mkdtempSync(join(tmpdir(), 'ao-bench-'));
  readonly #streams = new Set<IncomingMessage>();
  #process!: ChildProcess;
  #url = '';

  static async start(flags: readonly string[] = []): Promise<BenchDaemon> {
    const daemon = new BenchDaemon();
    const compiled = await compiledRoot();
    const root = join(daemon.folder, 'package');
    cpSync(compiled, root, { recursive: true });
    // Where packages are found from the compiled one.
    symlinkSync(join(dirname(dirname(dirname(compiled))), '.'), join(daemon.folder, 'node_modules'));
    copyFileSync(SPEAKER, join(root, 'bin/agentorchestr-scripted.cjs'));
    mkdirSync(join(daemon.folder, 'work'));
    const script = ['--agent-option', `scripted.script=${SPEAKER}`];
    const own = ['--port', '0', '--db', join(daemon.folder, 'bench.db'), '--default-provider', 'scripted'];
    const args = [
      join(root, 'bin/agentd.cjs'),
      ...own,
      ...script,
      '--auth-token',
      TOKEN,
      '--print-json',
      ...flags,
    ];
    daemon.#process = spawn(
      process.execPath,
      [
        ...(process.env['BENCH_PROF'] ? ['--cpu-prof', '--cpu-prof-dir', process.env['BENCH_PROF']] : []),
        ...args,
      ],
      {
        cwd: join(daemon.folder, 'work'),
        env: { PATH: process.env['PATH'], HOME: daemon.folder },
        stdio: ['ignore', 'pipe', 'inherit'],
      },
    );
    for await (const line of createInterface({ input: daemon.#process.stdout! })) {
      daemon.#url = (JSON.parse(line) as { url: string }).url;
      break;
    }
    return daemon;
  }

  get pid(): number {
    return this.#process.pid!;
  }

  async call(method: string, path: string, body?: object): Promise<Answer> {
    const response = await fetch(`${this.#url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${await response.text()}`);
    return (await response.json()) as Answer;
  }

  async session(): Promise<string> {
    return (await this.call('POST', '/sessions', {})).session.id;
  }

  /** Resolves with the id of the run. */
  async say(session: string, text: string, more: object = {}): Promise<string> {
    return (await this.call('POST', `/sessions/${session}/messages`, { text, ...more })).run.id;
  }

  async over(run: string): Promise<void> {
    const { done, run: row } = await this.call('GET', `/runs/${run}/wait?timeout_s=${RUN_LIMIT_S}`);
    if (!done || row.state !== 'succeeded') throw new Error(`run ${run} is ${row.state}`);
  }

  /**
   * Every line of a session's server-sent events, with the nanosecond at which it came. What it resolves to resolves
   * when a run has succeeded.
   */
  async stream(
    session: string,
    listener: (line: string, at: bigint) => void,
  ): Promise<{ over: Promise<void> }> {
    const response = await this.#open(session);
    const over = new Promise<void>((resolve) => {
      createInterface({ input: response }).on('line', (line) => {
        listener(line, process.hrtime.bigint());
        if (line === 'event: run.succeeded') resolve();
      });
    });
    return { over };
  }

  /** A reader that stopped to read. */
  async stuck(session: string): Promise<void> {
    (await this.#open(session)).pause();
  }

  hangUp(): void {
    for (const stream of this.#streams) stream.destroy();
    this.#streams.clear();
  }

  async #open(session: string): Promise<IncomingMessage> {
    const headers = { authorization: `Bearer ${TOKEN}` };
    const request = get(`${this.#url}/stream?sessionId=${session}`, { headers, agent: false });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    if (response.statusCode !== 200) throw new Error(`the stream answered ${response.statusCode}`);
    response.on('error', () => undefined);
    this.#streams.add(response);
    return response;
  }

  async close(): Promise<void> {
    this.hangUp();
    const ended = once(this.#process, 'exit');
    this.#process.kill('SIGTERM');
    await ended;
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Microseconds from the moment that the speaker noted in this line; null where it noted none. */
export function delayOf(line: string, at: bigint): number | null {
  const [, noted] = /"text":"at (\d+) /.exec(line) ?? [];
  return noted === undefined ? null : Number(at - BigInt(noted)) / 1_000;
}
