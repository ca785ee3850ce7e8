import { spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killServer } from '../../../src/backends/tmux/attach.js';
import type { SessionControl } from '../../../src/main/session-control.js';
import { systemClock } from '../../../src/platform/clock.js';
import { processStartTime } from '../../../src/platform/identity.js';
import { resolvePaths } from '../../../src/platform/paths.js';
import type { Store } from '../../../src/store/contract.js';
import { openReadOnlyStore } from '../../../src/store/open-read-only.js';
import { compiledRoot } from '../../support/compiled.js';
import { createGitWorld, type GitWorld, type TestRepo } from '../../support/repo.js';
import { until } from '../../support/tmux.js';

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Running {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  stderr(): string;
  stdout(): string;
  /** Resolves with the match once stderr has it. */
  says(pattern: RegExp): Promise<RegExpExecArray>;
}

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string | undefined>>;
  readonly input?: string;
  /** Another copy of the product than the one compiled for tests. */
  readonly launcher?: string;
}

const LIMIT_MS = 90_000;

/** A user's machine for the command line: home, project, PATH with the agents a test puts there; checked for leaks. */
export class CliRig {
  readonly world: GitWorld;
  readonly repo: TestRepo;
  readonly root: string;
  readonly #bin: string;

  static async create(env: Record<string, string> = {}): Promise<CliRig> {
    return new CliRig(await compiledRoot(), env);
  }

  private constructor(root: string, env: Record<string, string>) {
    this.root = root;
    this.world = createGitWorld({ env });
    this.repo = this.world.repo();
    this.#bin = this.world.sandbox.folder('agents-bin');
  }

  get launcher(): string {
    return join(this.root, 'bin/agentorchestr.cjs');
  }

  get env(): Readonly<Record<string, string>> {
    const { env } = this.world.sandbox;
    return { ...env, PATH: `${this.#bin}:${env['PATH'] ?? ''}` };
  }

  get paths() {
    return resolvePaths(this.env);
  }

  /** A program on PATH that is named like an agent; answers `--version` unless told what to do. */
  fakeProgram(name: string, body = `echo "${name} 1.2.3"`): void {
    const path = join(this.#bin, name);
    writeFileSync(path, `#!/bin/sh\n${body}\n`);
    chmodSync(path, 0o755);
  }

  file(name: string, content: string | Buffer): string {
    const path = join(this.world.sandbox.root, name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, content);
    return path;
  }

  /** The flags that let the built-in agent play `script`. */
  playing(script: string): string[] {
    return ['--agents', 'scripted', '--agent-option', `scripted.script=${this.file('script.yaml', script)}`];
  }

  start(args: readonly string[], options: RunOptions = {}): Running {
    const child = spawn(process.execPath, [options.launcher ?? this.launcher, ...args], {
      cwd: options.cwd ?? this.repo.path,
      env: { ...this.env, ...options.env },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let [stdout, stderr] = ['', ''];
    child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
    child.stdin.on('error', () => undefined);
    child.stdin.end(options.input ?? '');
    const finished = new Promise<Finished>((resolve) =>
      child.once('close', (code) => resolve({ code, stdout, stderr })),
    );
    this.world.sandbox.onClose(() => void child.kill('SIGKILL'));
    const says = async (pattern: RegExp) => {
      await until(() => pattern.test(stderr) || child.exitCode !== null, `stderr with ${pattern}`, LIMIT_MS);
      const match = pattern.exec(stderr);
      if (match === null)
        throw new Error(`it ended (${child.exitCode}) without saying ${pattern}:\n${stderr}`);
      return match;
    };
    return { child, finished, says, stderr: () => stderr, stdout: () => stdout };
  }

  run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    return this.start(args, options).finished;
  }

  /** Looks into the database as it is now. */
  look<T>(read: (store: Store) => T): T {
    const store = openReadOnlyStore({ path: this.paths.database, clock: systemClock });
    try {
      return read(store);
    } finally {
      store.close();
    }
  }

  sessionIds(): string[] {
    return this.look((store) => store.sessions(50).map((row) => row.session_id));
  }

  control(sessionId: string): SessionControl {
    const path = join(this.paths.data, 'sessions', sessionId, 'control.json');
    return JSON.parse(readFileSync(path, 'utf8')) as SessionControl;
  }

  /** A crashed session's agents hang up with their terminals. */
  killServerOf(sessionId: string): Promise<unknown> {
    const socket = this.look((store) => store.session(sessionId)?.tmux_socket ?? null);
    return socket === null ? Promise.resolve() : killServer({ socketName: socket, env: this.env });
  }

  /** Ends what still runs and checks that nothing else is left. */
  async close(): Promise<void> {
    try {
      for (const sessionId of existsSync(this.paths.database) ? this.sessionIds() : [])
        await this.#end(sessionId);
      for (const name of readdirSync(this.world.sandbox.temp))
        if (/^agentorchestr-[0-9a-f]{8}$/.test(name))
          rmSync(join(this.world.sandbox.temp, name), { recursive: true });
    } finally {
      await this.world.close();
    }
  }

  async #end(sessionId: string): Promise<void> {
    const folder = join(this.paths.data, 'sessions', sessionId);
    if (existsSync(join(folder, 'control.json'))) {
      const { pid, pid_started_at: startedAt } = this.control(sessionId);
      const lives = () => processStartTime(pid) === startedAt;
      if (lives()) process.kill(pid, 'SIGTERM');
      await until(() => !lives(), 'the end of the supervisor', LIMIT_MS);
    }
    await this.killServerOf(sessionId);
  }
}

/** A lead that is done at once. */
export const DONE_LEAD = `lead:
  - match: '^# Goal$'
    steps:
      - call: verify
        until: { state: { not: running } }
      - call: mark_goal_done
        with: { summary: all is well }
`;

export const FAILED_LEAD = `lead:
  - steps:
      - call: mark_goal_failed
        with: { reason: it cannot be done }
`;

/** A lead that takes its prompt and stays in its turn. */
export const SILENT_LEAD = 'lead:\n  - steps: [{ silence: true }]\n';

/** A lead with one worker that writes, commits and is integrated. */
export const ONE_WORKER = `lead:
  - match: '^# Goal$'
    times: 1
    steps:
      - call: spawn_worker
        with: { task: Write b.txt, perspective: implementer }
        save: one
      - call: report_progress
        with: { message: one worker writes b.txt }
      - call: wait_for_worker
        with: { worker_id: '{{one.worker_id}}' }
        while: { ask_again: true }
      - call: integrate_worker
        with: { worker_id: '{{one.worker_id}}' }
      - call: verify
        until: { state: { not: running } }
      - call: mark_goal_done
        with: { summary: b.txt is there }
workers:
  - contains: Write b.txt
    steps:
      - write: b.txt
        content: "b\\n"
      - commit: Add b
      - report_done: b.txt written
`;
