import { spawn, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scripted } from '../../../src/agents/scripted.js';
import type { HeadlessLaunch, StreamFormat } from '../../../src/agents/contract.js';
import type { Said } from '../../../src/backends/contract.js';
import { READERS } from '../../../src/backends/headless/formats/index.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';
import { Outside, TOKEN } from './outside.js';
import { scriptedContext } from '../../support/scripted-context.js';

export const launch = scripted.headless as HeadlessLaunch;

export interface TurnOptions {
  readonly format?: StreamFormat;
  readonly resume?: string;
  readonly role?: 'lead' | 'worker';
}

export interface Ended {
  readonly status: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly lines: readonly Record<string, unknown>[];
  readonly said: readonly Said[];
  readonly stderr: string;
}

export interface RunningTurn {
  readonly child: ChildProcess;
  readonly end: Promise<Ended>;
  /** Resolves with the first thing said that fits. */
  until(fits: (said: Said) => boolean): Promise<Said>;
}

/** The scripted agent as a process per turn, with a real MCP server and hook address outside. */
export class HeadlessRig {
  readonly outside = new Outside();
  readonly sandbox: Sandbox = createSandbox();
  readonly work = this.sandbox.folder('work');
  readonly directory = this.sandbox.folder('private');
  private readonly scriptFile = join(this.sandbox.root, 'script.yaml');

  script(text: string): void {
    writeFileSync(this.scriptFile, text);
  }

  async begin(prompt: string, options: TurnOptions = {}): Promise<RunningTurn> {
    if (this.outside.mcpUrl.includes(':0/')) await this.outside.open();
    const context = await scriptedContext({
      ...{ directory: this.directory, worktree: this.work, role: options.role ?? 'worker' },
      ...{ mcpUrl: this.outside.mcpUrl, hookUrl: this.outside.hookUrl, tokenVariable: 'RIG_TOKEN' },
      resumeThreadId: options.resume ?? null,
      extra: { script: this.scriptFile, ...(options.format === undefined ? {} : { format: options.format }) },
    });
    const [file = '', ...args] = launch.argv(context);
    const child = spawn(file, args, { cwd: this.work, env: { ...this.sandbox.env, RIG_TOKEN: TOKEN } });
    child.stdin.end(prompt);
    return follow(child, READERS[launch.format(context)]());
  }

  async turn(prompt: string, options: TurnOptions = {}): Promise<Ended> {
    return (await this.begin(prompt, options)).end;
  }

  async close(): Promise<void> {
    await this.outside.close();
    await this.sandbox.close();
  }
}

function follow(child: ChildProcess, reader: ReturnType<(typeof READERS)[StreamFormat]>): RunningTurn {
  const lines: Record<string, unknown>[] = [];
  const said: Said[] = [];
  const waiting = new Set<() => void>();
  let [rest, stderr] = ['', ''];
  child.stdout?.setEncoding('utf8').on('data', (part: string) => {
    const whole = (rest + part).split('\n');
    rest = whole.pop() ?? '';
    for (const line of whole) {
      lines.push(JSON.parse(line) as Record<string, unknown>);
      said.push(...reader.line(line));
    }
    for (const look of waiting) look();
  });
  child.stderr?.setEncoding('utf8').on('data', (part: string) => (stderr += part));
  const end = new Promise<Ended>((resolve) =>
    child.on('close', (status, signal) => resolve({ status, signal, lines, said, stderr })),
  );
  const until = (fits: (one: Said) => boolean) =>
    new Promise<Said>((resolve, reject) => {
      const look = () => {
        const found = said.find(fits);
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      void end.then((ended) => reject(new Error(`it ended first: ${JSON.stringify(ended)}`)));
      look();
    });
  return { child, end, until };
}
