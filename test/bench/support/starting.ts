import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlClient } from '../../../src/backends/tmux/types.js';
import { shellQuote } from '../../../src/platform/shell-quote.js';
import { RECORDER, recorderLaunch } from '../../support/recorder/launch.js';
import type { TmuxWorld } from '../../support/tmux.js';
import { execTmux, timed } from './tmux.js';

/** The last row of a program that takes input, as far as the bytes of an output tell. */
const READY = 'ready';
const FOOTER = `${READY} · ?`;

const STABLE_MS = 2_000;
const SHELL_POLL_MS = 300;
const STATUS_POLL_MS = 1_000;

/** From the order to start an agent until it takes input: ours, the agent by itself, and a tool without signs. */
export class Starting {
  readonly #world: TmuxWorld;
  readonly #client: ControlClient;
  readonly #startDelayMs: number;
  #count = 0;

  constructor(world: TmuxWorld, client: ControlClient, startDelayMs: number) {
    this.#world = world;
    this.#client = client;
    this.#startDelayMs = startDelayMs;
  }

  async ours(): Promise<number> {
    const { backend, spec } = this.#world;
    const argv = this.#agent();
    const workerId = `w${this.#count}`;
    const ms = await timed(async () => {
      await backend.start(spec(workerId, argv, { launch: recorderLaunch() }));
      await backend.ready(workerId);
    });
    await backend.stop(workerId, { graceMs: 0 });
    return ms;
  }

  /** In a terminal, with nobody between. */
  async directly(): Promise<number> {
    const argv = this.#agent();
    let paneId = '';
    const ms = await timed(async () => {
      const shown = new Promise<void>((resolve) => {
        const stop = this.#client.onOutput((_pane, data) => {
          if (!data.includes(READY)) return;
          stop();
          resolve();
        });
      });
      [paneId = ''] = await this.#client.command('new-window', '-d', '-P', '-F', '#{pane_id}', ...argv);
      await shown;
    });
    await this.#client.command('kill-pane', '-t', paneId);
    return ms;
  }

  /** A shell first, until it has been still; then the command typed into it, then a look every second. */
  async throughStableShell(): Promise<number> {
    const { sandbox, socketName } = this.#world;
    const tmux = (...args: string[]) => execTmux(sandbox, socketName, ...args);
    const argv = this.#agent();
    let paneId = '';
    const ms = await timed(async () => {
      paneId = (await tmux('new-window', '-d', '-P', '-F', '#{pane_id}', '/bin/sh')).trim();
      const look = () => tmux('capture-pane', '-p', '-t', paneId);
      let shown = await look();
      for (let still = 0; still < STABLE_MS;) {
        await sleep(SHELL_POLL_MS);
        const now = await look();
        still = now === shown ? still + SHELL_POLL_MS : 0;
        shown = now;
      }
      await tmux('send-keys', '-t', paneId, argv.map(shellQuote).join(' '), 'Enter');
      while (!(await look()).includes(FOOTER)) await sleep(STATUS_POLL_MS);
    });
    await tmux('kill-pane', '-t', paneId);
    return ms;
  }

  #agent(): readonly string[] {
    const directory = join(this.#world.sandbox.root, `agent-${++this.#count}`);
    mkdirSync(directory);
    const config = join(directory, 'config.json');
    writeFileSync(config, JSON.stringify({ directory, startDelayMs: this.#startDelayMs }));
    return [process.execPath, RECORDER, config];
  }
}
