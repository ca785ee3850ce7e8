import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MARKER = 'AO_TEST_SANDBOX';
const SCRUBBED =
  /^(ANTHROPIC_|CLAUDE|OPENAI_|CODEX|GEMINI|GOOGLE|AGENTORCHESTR_|TMUX|XDG_|GIT_|VITEST|NODE_OPTIONS)/;

export interface Sandbox {
  readonly root: string;
  readonly home: string;
  /** TMPDIR of everything started here; must be empty at the end. */
  readonly temp: string;
  /** TMUX_TMPDIR: every tmux socket of the test is below it. */
  readonly sockets: string;
  /** Scrubbed environment with a marker by which left-over processes are found. */
  readonly env: Readonly<Record<string, string>>;
  /** Makes a private folder below the root. */
  folder(name: string): string;
  /** Runs before the leak check, last added first. */
  onClose(task: () => Promise<unknown> | void): void;
  /** Pids of live processes that were started with this sandbox's environment. */
  processes(): readonly SandboxProcess[];
  /** Those of them that stay: one that was just ended may take a moment to be gone. */
  left(): Promise<readonly SandboxProcess[]>;
  /** Ends what the test registered, then throws if a process, a tmux socket or a temporary file is left. */
  close(): Promise<void>;
}

export interface SandboxProcess {
  readonly pid: number;
  readonly command: string;
}

/** A world of its own for one test: home, state, temp and tmux sockets below one folder that is removed at the end. */
export function createSandbox(extra: Readonly<Record<string, string>> = {}): Sandbox {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'ao-')));
  const folder = (name: string) => {
    const path = join(root, name);
    mkdirSync(path, { recursive: true, mode: 0o700 });
    return path;
  };
  const [home, temp, sockets, state] = [folder('home'), folder('tmp'), folder('s'), folder('state')];
  const marker = randomBytes(8).toString('hex');
  const inherited = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[1] !== undefined && !SCRUBBED.test(entry[0]),
  );
  const env = {
    ...Object.fromEntries(inherited),
    HOME: home,
    TMPDIR: temp,
    TMUX_TMPDIR: sockets,
    AGENTORCHESTR_HOME: state,
    [MARKER]: marker,
    ...extra,
  };
  const tasks: (() => Promise<unknown> | void)[] = [];
  const processes = () => processesWith(`${MARKER}=${marker}`);
  return {
    root,
    home,
    temp,
    sockets,
    env,
    folder,
    onClose: (task) => void tasks.push(task),
    processes,
    left: () => left(processes),
    async close() {
      const problems: string[] = [];
      for (const task of tasks.splice(0).reverse())
        await Promise.resolve(task()).catch((error: unknown) =>
          problems.push(`closing failed: ${String(error)}`),
        );
      problems.push(...(await leaks({ processes, sockets, temp })));
      rmSync(root, { recursive: true, force: true, maxRetries: 5 });
      if (problems.length > 0) throw new Error(`the test left something behind:\n${problems.join('\n')}`);
    },
  };
}

async function left(processes: () => readonly SandboxProcess[]): Promise<readonly SandboxProcess[]> {
  const deadline = Date.now() + 3_000;
  while (processes().length > 0 && Date.now() < deadline)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return processes();
}

/** Left-over processes are ended (they are ours by marker), but still reported. */
async function leaks(where: {
  processes: () => readonly SandboxProcess[];
  sockets: string;
  temp: string;
}): Promise<string[]> {
  const problems: string[] = [];
  for (const { pid, command } of await left(where.processes)) {
    problems.push(`process ${pid}: ${command}`);
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // It ended between the look and the kill.
    }
  }
  for (const name of filesBelow(where.sockets)) problems.push(`tmux socket ${name}`);
  for (const name of filesBelow(where.temp)) problems.push(`temporary file ${name}`);
  return problems;
}

function filesBelow(directory: string): string[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
}

function processesWith(variable: string): SandboxProcess[] {
  const found: SandboxProcess[] = [];
  for (const name of readdirSync('/proc')) {
    const pid = Number(name);
    if (!Number.isInteger(pid) || pid === process.pid) continue;
    try {
      if (!readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(variable)) continue;
      found.push({ pid, command: readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim() });
    } catch {
      // Gone meanwhile, or not ours to read.
    }
  }
  return found;
}
