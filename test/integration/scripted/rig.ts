import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { scripted } from '../../../src/agents/scripted.js';
import type { InteractiveLaunch, Screen } from '../../../src/agents/contract.js';
import { parseScreen, readScreen, type Reading } from '../../../src/backends/tmux/screen.js';
import { runProcess } from '../../../src/platform/process.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';
import { Outside, TOKEN } from './outside.js';
import { scriptedContext } from '../../support/scripted-context.js';

const launch = scripted.interactive as InteractiveLaunch;
const SOCKET = 'rig';
const LIMIT_MS = 20_000;

export interface StartOptions {
  readonly role?: 'lead' | 'worker';
  readonly resume?: string;
  readonly pace?: string;
  readonly columns?: number;
  readonly rows?: number;
}

/** The scripted agent in a real tmux pane, with a real MCP server and hook address outside. */
export class Rig {
  readonly outside = new Outside();
  readonly sandbox: Sandbox;
  readonly work: string;
  readonly directory: string;
  private readonly statusFile: string;
  private readonly scriptFile: string;

  constructor() {
    this.sandbox = createSandbox();
    this.work = this.sandbox.folder('work');
    this.directory = this.sandbox.folder('private');
    this.statusFile = join(this.sandbox.root, 'exit-status');
    this.scriptFile = join(this.sandbox.root, 'script.yaml');
  }

  /** Starts the agent with a script; resolves when its process runs, not when it is ready. */
  async start(script: string, options: StartOptions = {}): Promise<void> {
    writeFileSync(this.scriptFile, script);
    if (this.outside.mcpUrl.includes(':0/')) await this.outside.open();
    const context = await scriptedContext({
      ...{ directory: this.directory, worktree: this.work, role: options.role ?? 'worker' },
      ...{ mcpUrl: this.outside.mcpUrl, hookUrl: this.outside.hookUrl, tokenVariable: 'RIG_TOKEN' },
      resumeThreadId: options.resume ?? null,
      extra: { script: this.scriptFile, ...(options.pace === undefined ? {} : { pace: options.pace }) },
    });
    const argv = launch.argv(context);
    const shell = ['sh', '-c', `"$@"; echo $? > ${this.statusFile}; exec sleep 600`, 'sh', ...argv];
    const size = ['-x', String(options.columns ?? 90), '-y', String(options.rows ?? 24)];
    await this.tmux('new-session', '-d', '-s', 'rig', ...size, '-c', this.work, ...shell);
  }

  async tmux(...args: readonly string[]): Promise<string> {
    const env = { ...this.sandbox.env, RIG_TOKEN: TOKEN };
    const result = await runProcess('tmux', ['-u', '-L', SOCKET, '-f', '/dev/null', ...args], {
      env,
      timeoutMs: 10_000,
      raw: true,
    });
    if (result.exitCode !== 0) throw new Error(`tmux ${args[0]}: ${result.stderr}`);
    return result.stdout;
  }

  /** One bracketed paste, not submitted. */
  async paste(text: string): Promise<void> {
    const file = join(this.sandbox.root, 'paste');
    writeFileSync(file, text);
    await this.tmux('load-buffer', '-b', 'rig', file);
    await this.tmux('paste-buffer', '-p', '-r', '-d', '-b', 'rig', '-t', 'rig');
  }

  /** Pastes, waits until it is drawn, submits. */
  async submit(text: string): Promise<void> {
    await this.paste(text);
    await this.until(
      'the composer shows the paste',
      async () => (await this.reading()).composer?.text !== '',
    );
    await this.key('Enter');
  }

  async key(...names: readonly string[]): Promise<void> {
    await this.tmux('send-keys', '-t', 'rig', ...names);
  }

  async type(text: string): Promise<void> {
    await this.tmux('send-keys', '-t', 'rig', '-l', text);
  }

  /** `capture-pane` with styles, as it came. */
  capture(): Promise<string> {
    return this.tmux('capture-pane', '-p', '-e', '-t', 'rig');
  }

  async screen(): Promise<Screen> {
    return parseScreen((await this.capture()).split('\n'), { row: 0, column: 0 });
  }

  /** All lines said so far, with scrollback, wrapped lines joined. */
  async text(): Promise<string> {
    return this.tmux('capture-pane', '-p', '-J', '-S', '-2000', '-t', 'rig');
  }

  async reading(): Promise<Reading> {
    return readScreen(launch.screen, await this.screen());
  }

  async untilState(state: Reading['state'], kind: Reading['kind'] = null): Promise<Reading> {
    let reading = await this.reading();
    await this.until(`the screen says ${state}`, async () => {
      reading = await this.reading();
      return reading.state === state && reading.kind === kind;
    });
    return reading;
  }

  untilText(pattern: RegExp): Promise<void> {
    return this.until(`the pane shows ${pattern}`, async () => pattern.test(await this.text()));
  }

  untilHook(name: string, count = 1): Promise<void> {
    return this.until(
      `${count} ${name} hooks`,
      () => this.outside.hookNames().filter((one) => one === name).length >= count,
    );
  }

  /** Waits for the end of the agent and returns its exit status. */
  async exitStatus(): Promise<number> {
    await this.until(
      'the agent ended',
      () => existsSync(this.statusFile) && readFileSync(this.statusFile, 'utf8').endsWith('\n'),
    );
    return Number(readFileSync(this.statusFile, 'utf8'));
  }

  /** The agent's own process. */
  agentPid(): number {
    const agent = this.sandbox
      .processes()
      .find(({ command }) => command.startsWith(process.execPath) && command.includes('--hook-url'));
    if (agent === undefined) throw new Error('the agent does not run');
    return agent.pid;
  }

  threadIds(): string[] {
    return readdirSync(join(this.directory, 'conversations'))
      .filter((name) => !name.startsWith('.'))
      .map((name) => name.replace('.json', ''));
  }

  async until(what: string, condition: () => boolean | Promise<boolean>): Promise<void> {
    const deadline = Date.now() + LIMIT_MS;
    while (!(await condition())) {
      if (Date.now() > deadline)
        throw new Error(`waited in vain until ${what}; the pane:\n${await this.text().catch(String)}`);
      await new Promise((resolve) => setTimeout(resolve, 15));
    }
  }

  /** Ends tmux, and with it the agent; lets the sandbox check that nothing is left. */
  async stop(): Promise<void> {
    await this.tmux('kill-server').catch(() => '');
    await this.until('tmux ended', () =>
      this.sandbox.processes().every(({ command }) => !command.startsWith('tmux')),
    );
    // tmux leaves its socket file behind.
    rmSync(join(this.sandbox.sockets, `tmux-${userInfo().uid}`), { recursive: true, force: true });
  }

  async close(): Promise<void> {
    await this.stop();
    await this.outside.close();
    await this.sandbox.close();
  }
}
