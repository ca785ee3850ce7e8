import { randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { InteractiveLaunch } from '../../src/agents/contract.js';
import type { Backend, BackendEvent, StartSpec } from '../../src/backends/contract.js';
import { killServer } from '../../src/backends/tmux/attach.js';
import { createTmuxBackend } from '../../src/backends/tmux/backend.js';
import type { TmuxBackendOptions } from '../../src/backends/tmux/options.js';
import { connectControlClient } from '../../src/backends/tmux/control-client.js';
import type { ControlClient } from '../../src/backends/tmux/types.js';
import { systemClock } from '../../src/platform/clock.js';
import { silentLogger } from '../../src/platform/logger.js';
import type { Sandbox } from './sandbox.js';

/** An agent that is any program: nothing on its screen means anything. */
const ANY_PROGRAM: InteractiveLaunch = {
  argv: () => [],
  readyTimeoutMs: 5_000,
  screen: {
    recordedVersion: '0',
    states: [{ when: /READY>/, means: 'idle' }],
    tailRows: 5,
    composer: () => null,
  },
  keys: { submit: 'Enter', interrupt: 'C-c', redrawCapMs: 500, submitDelayMs: 0 },
  steers: false,
  paste: { limitBytes: 8_000_000, unsafe: null },
  hooks: null,
  transcript: null,
  resumeErrors: null,
  toolsAtStart: false,
  mcpCallLimitMs: 45_000,
};

export interface TmuxWorld {
  readonly sandbox: Sandbox;
  readonly sessionId: string;
  readonly socketName: string;
  readonly backend: Backend;
  readonly events: readonly BackendEvent[];
  /** A second connection, to look at what is really there. */
  look(): Promise<ControlClient>;
  /** Lines of `list-panes -s`. */
  panes(format: string): Promise<readonly string[]>;
  spec(workerId: string, argv: readonly string[], more?: Partial<StartSpec>): StartSpec;
  /** The first event, past or to come, that `matches`. */
  event<E extends BackendEvent>(matches: (event: BackendEvent) => event is E, timeoutMs?: number): Promise<E>;
  exit(workerId: string): Promise<Extract<BackendEvent, { type: 'exited' }>>;
  /** Another supervisor of the same session; the first one must have left. */
  reopen(options?: Partial<TmuxBackendOptions>): TmuxWorld;
}

/** An unopened backend in its sandbox; the session is destroyed when the sandbox closes. */
export function createTmuxWorld(sandbox: Sandbox, options: Partial<TmuxBackendOptions> = {}): TmuxWorld {
  const sessionId = options.sessionId ?? randomBytes(4).toString('hex');
  const settings: TmuxBackendOptions = {
    sessionId,
    socketPrefix: 'ao',
    directory: join(sandbox.folder('run'), sessionId),
    env: sandbox.env,
    guardVariables: [],
    ownPrefixes: ['AGENTORCHESTR_'],
    clock: systemClock,
    logger: silentLogger,
    terminal: null,
    readingMs: 10_000,
    ...options,
  };
  const backend = createTmuxBackend(settings);
  const events: BackendEvent[] = [];
  const waiting = new Set<() => void>();
  backend.onEvent((event) => {
    events.push(event);
    for (const look of waiting) look();
  });
  sandbox.onClose(() => backend.close({ destroy: true }));
  const socketName = `${settings.socketPrefix}-${sessionId}`;

  const event = <E extends BackendEvent>(matches: (event: BackendEvent) => event is E, timeoutMs = 10_000) =>
    new Promise<E>((resolve, reject) => {
      const look = () => {
        const found = events.find(matches);
        if (found === undefined) return;
        finish();
        resolve(found);
      };
      const timer = setTimeout(() => {
        finish();
        reject(
          new Error(
            `no such event within ${timeoutMs} ms; seen: ${JSON.stringify(events.filter(({ type }) => type !== 'output'))}`,
          ),
        );
      }, timeoutMs);
      const finish = () => {
        clearTimeout(timer);
        waiting.delete(look);
      };
      waiting.add(look);
      look();
    });
  const look = async () => {
    const client = await connectControlClient({
      socketName,
      configFile: '/dev/null',
      env: sandbox.env,
      initial: ['attach-session', '-f', 'ignore-size'],
    });
    sandbox.onClose(() => client.detach());
    return client;
  };
  return {
    ...{ sandbox, sessionId, socketName, backend, events, look, event },
    async panes(format) {
      const client = await look();
      const lines = await client.command('list-panes', '-a', '-F', format);
      await client.detach();
      return lines;
    },
    spec: (workerId, argv, more = {}) => ({
      ...{
        workerId,
        argv,
        attemptId: `a-${workerId}-${randomBytes(3).toString('hex')}`,
        label: workerId,
        env: {},
        launch: ANY_PROGRAM,
      },
      role: workerId === 'lead' ? 'lead' : 'worker',
      cwd: sandbox.home,
      directory: join(sandbox.folder('workers'), workerId),
      ...more,
    }),
    exit: (workerId) =>
      event(
        (seen): seen is Extract<BackendEvent, { type: 'exited' }> =>
          seen.type === 'exited' && seen.workerId === workerId,
      ),
    reopen: (more = {}) => createTmuxWorld(sandbox, { ...settings, ...more }),
  };
}

/** Waits for a condition outside of what tells events: files, processes, what tmux shows. */
export async function until(
  condition: () => boolean | Promise<boolean>,
  what: string,
  timeoutMs = 10_000,
): Promise<void> {
  const deadline = Date.now() + timeoutMs;
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`not within ${timeoutMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export interface TestTerminal {
  readonly client: ControlClient;
  screen(): Promise<string>;
  type(...keys: readonly string[]): Promise<void>;
}

/** A real terminal of that size with a program in it: the only pane of a tmux server of its own. */
export async function openTerminal(
  sandbox: Sandbox,
  size: { columns: number; rows: number },
  command: readonly string[],
): Promise<TestTerminal> {
  const socketName = `terminal-${randomBytes(3).toString('hex')}`;
  const configFile = join(sandbox.folder('run'), `${socketName}.conf`);
  writeFileSync(configFile, 'set -g status off\nset -g remain-on-exit on\n');
  const initial = ['new-session', '-x', String(size.columns), '-y', String(size.rows), ...command];
  const client = await connectControlClient({ socketName, configFile, env: sandbox.env, initial });
  sandbox.onClose(async () => {
    await client.detach();
    await killServer({ socketName, env: sandbox.env });
  });
  return {
    client,
    screen: async () => (await client.command('capture-pane', '-p')).join('\n').trimEnd(),
    type: async (...keys) => void (await client.command('send-keys', ...keys)),
  };
}
