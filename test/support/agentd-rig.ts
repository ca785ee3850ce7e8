import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { compiledRoot } from './compiled.js';

export interface Daemon {
  readonly child: ChildProcess;
  /** What it has said so far, on both streams. */
  readonly said: () => string;
  readonly url: string;
  readonly token_file: string;
  readonly database: string;
  readonly pid: number;
  readonly port: number;
}

interface Run {
  readonly id: string;
  readonly state: string;
  readonly result_text: string | null;
  readonly error: { readonly message: string } | null;
}

interface Body {
  readonly session: { readonly id: string };
  readonly run: Run;
  readonly status: string;
  readonly events: readonly { readonly type: string }[];
  readonly diagnostics: { readonly active_pid: number | null };
}

/** agentd as a process of its own, in a folder of its own, with the scripted agent. */
export class AgentdRig {
  readonly folder = mkdtempSync(join(tmpdir(), 'ao-agentd-'));
  readonly work = join(this.folder, 'work');
  readonly #script: string;
  readonly #children: ChildProcess[] = [];

  constructor(script: string) {
    this.#script = script;
    mkdirSync(this.work);
  }

  async close(): Promise<void> {
    for (const child of this.#children.splice(0)) await this.end(child, 'SIGKILL');
    rmSync(this.folder, { recursive: true, force: true });
  }

  /** May end at once. */
  async launch(...flags: string[]): Promise<{ child: ChildProcess; said: () => string }> {
    writeFileSync(join(this.folder, 'script.yaml'), this.#script);
    const script = `scripted.script=${this.folder}/script.yaml`;
    const agent = ['--default-provider', 'scripted', '--agent-option', script];
    const program = join(await compiledRoot(), 'bin/agentd.cjs');
    const child = spawn(process.execPath, [program, '--port', '0', '--print-json', ...agent, ...flags], {
      cwd: this.work,
      env: { PATH: process.env['PATH'], HOME: this.folder, TMPDIR: this.folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#children.push(child);
    let text = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
    return { child, said: () => text };
  }

  /** Resolves when it is ready. */
  async start(...flags: string[]): Promise<Daemon> {
    const { child, said } = await this.launch(...flags);
    await Promise.race([once(child.stdout!, 'data'), once(child, 'exit')]);
    if (child.exitCode !== null) throw new Error(`agentd ended: ${said()}`);
    return { child, said, ...(JSON.parse(said().split('\n')[0] ?? '') as Omit<Daemon, 'child' | 'said'>) };
  }

  /** One that has to refuse to start: its exit code and what it said. */
  async refused(...flags: string[]): Promise<{ code: number | null; said: string }> {
    const { child, said } = await this.launch(...flags);
    const [code] = (await once(child, 'close')) as [number | null];
    return { code, said: said() };
  }

  async end(child: ChildProcess, signal: NodeJS.Signals): Promise<number | null> {
    if (child.exitCode === null && child.signalCode === null) {
      const exit = once(child, 'exit');
      child.kill(signal);
      await exit;
    }
    return child.exitCode;
  }

  async ask({ url, token_file: file }: Daemon, method: string, path: string, body?: unknown): Promise<Body> {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: { authorization: `Bearer ${readFileSync(file, 'utf8')}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(90_000),
    });
    return (await response.json()) as Body;
  }

  async session(daemon: Daemon): Promise<string> {
    return (await this.ask(daemon, 'POST', '/sessions')).session.id;
  }

  /** The id of its run. */
  async say(daemon: Daemon, to: string, text: string): Promise<string> {
    return (await this.ask(daemon, 'POST', `/sessions/${to}/messages`, { text })).run.id;
  }

  async over(daemon: Daemon, run: string): Promise<Run> {
    return (await this.ask(daemon, 'GET', `/runs/${run}/wait?timeout_s=60`)).run;
  }

  /** Resolves when the agent of this session has said something. */
  async word(daemon: Daemon, of: string): Promise<void> {
    await this.ask(daemon, 'GET', `/sessions/${of}/events?types=text.completed&wait_s=60`);
  }

  /** The process of a run that is at work. */
  async pidOf(daemon: Daemon, run: string): Promise<number> {
    const { diagnostics } = await this.ask(daemon, 'GET', `/runs/${run}/diagnose`);
    if (diagnostics.active_pid === null) throw new Error(`run ${run} has no process`);
    return diagnostics.active_pid;
  }

  async draining(daemon: Daemon): Promise<void> {
    while ((await this.ask(daemon, 'GET', '/health')).status !== 'draining')
      await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
