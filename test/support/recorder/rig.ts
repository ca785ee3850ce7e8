import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { InteractiveLaunch } from '../../../src/agents/contract.js';
import type { Clock } from '../../../src/core/clock.js';
import type { Sentinel } from '../../../src/core/sentinels.js';
import type { BackendEvent, Delivery, HeldReason, SendOptions } from '../../../src/backends/contract.js';
import { connectControlClient } from '../../../src/backends/tmux/control-client.js';
import { PaneAgent } from '../../../src/backends/tmux/pane-agent.js';
import { PaneRouter } from '../../../src/backends/tmux/pane-router.js';
import type { ControlClient } from '../../../src/backends/tmux/types.js';
import { systemClock } from '../../../src/platform/clock.js';
import { silentLogger } from '../../../src/platform/logger.js';
import { createSandbox, type Sandbox } from '../sandbox.js';
import { RECORDER, recorderLaunch } from './launch.js';

/** Settings of recorder.mjs. */
export interface Persona {
  /** Everything is drawn so late; input is taken at once. */
  readonly echoDelayMs?: number;
  /** So many Enters do nothing. */
  readonly swallow?: number;
  /** An Enter that comes before the paste is drawn does nothing. */
  readonly enterWhileDrawing?: 'swallowed';
  readonly workMs?: number;
  readonly startDelayMs?: number;
  readonly exitAtOnce?: { readonly says: string; readonly status: number };
  /** false: bracketed paste stays off, and each line end submits. */
  readonly bracketed?: boolean;
  /** false: the terminal stays in line mode. */
  readonly raw?: boolean;
  readonly ignoreInput?: boolean;
  /** Draws all the time although it is idle. */
  readonly animate?: boolean;
  readonly alwaysWorking?: boolean;
  readonly alternate?: boolean;
  /** Large pastes are shown as a mark. */
  readonly collapse?: boolean;
  readonly suggestion?: string;
  readonly vim?: boolean;
  readonly dialogAtStart?: { readonly kind: 'trust' | 'permission'; readonly says: string } | Choosing;
  readonly dialogBelowComposer?: boolean;
  /** Enter closes the dialog. */
  readonly dialogAnswers?: boolean;
  /** A submission is taken without a turn or any other sign. */
  readonly submitIsSilent?: boolean;
  readonly answer?: string;
}

/** A dialog whose answer the recorder takes and writes down. */
export interface Choosing {
  readonly kind: 'trust' | 'permission';
  readonly says: string;
  readonly options: readonly string[];
  readonly by: 'digit' | 'move';
  /** Index of the option that is marked first. */
  readonly at?: number;
  /** Keys that come so soon after it are lost. */
  readonly deafMs?: number;
  /** So many keys are lost. */
  readonly drops?: number;
  /** It takes its answer at once and goes away so late. */
  readonly takesMs?: number;
  /** What comes at once when it was answered. */
  readonly next?: Choosing;
}

export type Command =
  | { readonly do: 'print' | 'write' | 'suggest'; readonly text: string }
  | { readonly do: 'dialog'; readonly kind: 'trust' | 'permission'; readonly says: string }
  | ({ readonly do: 'dialog' } & Choosing)
  | { readonly do: 'closeDialog' }
  | { readonly do: 'swallow'; readonly count: number }
  | { readonly do: 'phase'; readonly phase: 'idle' | 'working' | 'odd' }
  | { readonly do: 'exit'; readonly status: number };

export interface Recorder {
  readonly agent: PaneAgent;
  readonly paneId: string;
  readonly events: readonly BackendEvent[];
  /** Texts that were submitted, oldest first, byte for byte. */
  submissions(): readonly string[];
  /** All input that arrived in this part of the program's life, joined. */
  input(where?: 'boot' | 'idle' | 'working' | 'dialog'): Buffer;
  /** Labels of the choices that were taken, oldest first. */
  answers(): readonly string[];
  escapes(): number;
  /** When each Enter was read, monotonic ms. */
  entersAt(): readonly number[];
  states(): readonly string[];
  sentinels(): readonly Sentinel[];
  command(command: Command): void;
  /** Keys as a person types them. */
  press(...keys: readonly string[]): Promise<void>;
  type(text: string): Promise<void>;
  send(text: string, options?: Partial<SendOptions>): Sending;
}

export interface Sending {
  readonly delivery: Promise<Delivery>;
  readonly held: readonly HeldReason[];
  readonly typed: readonly number[];
}

export interface Rig {
  readonly sandbox: Sandbox;
  readonly client: ControlClient;
  start(persona?: Persona, launch?: Partial<InteractiveLaunch>): Promise<Recorder>;
  /** A program of any kind as the pane's own command, watched like an agent. */
  startProgram(argv: readonly string[], launch?: Partial<InteractiveLaunch>): Promise<Recorder>;
  /** Names of what is left in the folder that large texts travel through. */
  bufferFiles(): readonly string[];
  close(): Promise<void>;
}

const CONFIG = [
  'set -g status off',
  'set -g remain-on-exit on',
  "set -g remain-on-exit-format ''",
  'set -g history-limit 10000',
  'set -g default-size 120x40',
  '',
].join('\n');

export interface RigOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** More lines of tmux configuration. */
  readonly config?: string;
  readonly clock?: Clock;
}

/** A tmux server of its own with recorders in its windows. */
export async function createRig(extra: RigOptions = {}): Promise<Rig> {
  const sandbox = createSandbox(extra.env);
  const configFile = join(sandbox.root, 'tmux.conf');
  writeFileSync(configFile, `${CONFIG}${extra.config ?? ''}\n`);
  const initial = ['new-session', '-s', 'rig', '-x', '120', '-y', '40', 'cat'];
  const client = await connectControlClient({ socketName: 'rig', configFile, env: sandbox.env, initial });
  const agents: PaneAgent[] = [];
  const router = new PaneRouter();
  client.onOutput(router.output);
  sandbox.onClose(async () => {
    for (const agent of agents) agent.close();
    await client.command('kill-server').catch(() => undefined);
    await client.closed;
    // tmux leaves its socket file behind.
    rmSync(sandbox.sockets, { recursive: true });
    mkdirSync(sandbox.sockets);
  });
  const bufferDirectory = join(sandbox.root, 'buffers');
  let count = 0;
  const open = async (
    argv: readonly string[],
    directory: string,
    launch: InteractiveLaunch,
  ): Promise<Recorder> => {
    const events: BackendEvent[] = [];
    const started = router.beginStart();
    const [paneId = ''] = await client.command('new-window', '-d', '-P', '-F', '#{pane_id}', ...argv);
    const emit = (event: BackendEvent) => void events.push(event);
    const options = {
      client,
      clock: extra.clock ?? systemClock,
      logger: silentLogger,
      workerId: 'w01',
      paneId,
      launch,
      bufferDirectory,
      emit,
    };
    const agent = new PaneAgent(options);
    agents.push(agent);
    router.add(paneId, agent);
    started();
    return recorder({ agent, paneId, events, directory, client });
  };
  return {
    sandbox,
    client,
    start: (persona = {}, launch = {}) => {
      const directory = join(sandbox.root, `recorder-${++count}`);
      mkdirSync(directory);
      const config = join(directory, 'config.json');
      writeFileSync(config, JSON.stringify({ directory, ...persona }));
      return open([process.execPath, RECORDER, config], directory, recorderLaunch(launch));
    },
    startProgram: (argv, launch = {}) =>
      open(argv, sandbox.folder(`program-${++count}`), recorderLaunch(launch)),
    bufferFiles: () => (existsSync(bufferDirectory) ? readdirSync(bufferDirectory) : []),
    close: () => sandbox.close(),
  };
}

function recorder(parts: {
  agent: PaneAgent;
  paneId: string;
  events: BackendEvent[];
  directory: string;
  client: ControlClient;
}): Recorder {
  const { agent, paneId, events, directory, client } = parts;
  const keys = () => records<{ at: number; where: string; bytes: string }>(join(directory, 'keys.jsonl'));
  return {
    agent,
    paneId,
    events,
    submissions: () =>
      records<{ text: string }>(join(directory, 'submissions.jsonl')).map(({ text }) =>
        Buffer.from(text, 'base64').toString('utf8'),
      ),
    input: (where) =>
      Buffer.concat(
        keys()
          .filter((key) => where === undefined || key.where === where)
          .map(({ bytes }) => Buffer.from(bytes, 'base64')),
      ),
    answers: () => records<{ label: string }>(join(directory, 'answers.jsonl')).map(({ label }) => label),
    escapes: () => keys().filter(({ where }) => where === 'escape').length,
    entersAt: () =>
      keys()
        .filter(({ bytes }) => Buffer.from(bytes, 'base64').includes(0x0d))
        .map(({ at }) => at),
    states: () => events.flatMap((event) => (event.type === 'state' ? [event.state] : [])),
    sentinels: () => events.flatMap((event) => (event.type === 'sentinels' ? event.sentinels : [])),
    command: (command) => appendFileSync(join(directory, 'control'), `${JSON.stringify(command)}\n`),
    press: async (...names) => void (await client.command('send-keys', '-t', paneId, ...names)),
    type: async (text) => void (await client.command('send-keys', '-l', '-t', paneId, '--', text)),
    send: (text, options = {}) => {
      const held: HeldReason[] = [];
      const typed: number[] = [];
      const observer = {
        held: (reason: HeldReason) => void held.push(reason),
        typed: (bytes: number) => void typed.push(bytes),
      };
      return { delivery: agent.send(text, { observer, ...options }), held, typed };
    },
  };
}

function records<T>(path: string): readonly T[] {
  if (!existsSync(path)) return [];
  const lines = readFileSync(path, 'utf8').split('\n');
  return lines.filter((line) => line !== '').map((line) => JSON.parse(line) as T);
}

/** Waits for a condition on what a program left behind; fails with `what` after `limitMs`. */
export async function until(
  what: string,
  holds: () => boolean | Promise<boolean>,
  limitMs = 20_000,
): Promise<void> {
  const deadline = Date.now() + limitMs;
  while (!(await holds())) {
    if (Date.now() > deadline) throw new Error(`did not happen within ${limitMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
