import { closeSync, openSync, writeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ControlClient } from '../../../src/backends/tmux/types.js';
import type { TmuxWorld } from '../../support/tmux.js';
import { execTmux, monotonicMs } from './tmux.js';

const POLL_MS = 500;

/** Of the workers: the session's own first pane is left out. */
export const panesOf = async (world: TmuxWorld, format: string) => (await world.panes(format)).slice(1);
export const terminals = (world: TmuxWorld) => panesOf(world, '#{pane_tty}');

type Seen = (see: () => void) => () => void;

/** A worker's line of the end, from its writing until `seen` sees it, ms. */
export async function marked(terminal: string, mark: string, seen: Seen): Promise<number> {
  const handle = openSync(terminal, 'w');
  try {
    const at = new Promise<number>((resolve) => {
      const stop = seen(() => {
        stop();
        resolve(monotonicMs());
      });
    });
    const began = monotonicMs();
    writeSync(handle, `WORKER_DONE[${mark}]: all of it\r\n`);
    return (await at) - began;
  } finally {
    closeSync(handle);
  }
}

/** As tmux brings it to us. */
export const onChannel =
  (client: ControlClient, mark: string): Seen =>
  (see) =>
    client.onOutput((_pane, data) => {
      if (data.includes(mark)) see();
    });

/** As the backend tells the engine, after a look at the screen. */
export const asTold =
  (world: TmuxWorld, mark: string): Seen =>
  (see) =>
    world.backend.onEvent((event) => {
      if (event.type === 'sentinels' && event.sentinels.some(({ nonce }) => nonce === mark)) see();
    });

/** The rival: asks for the screen every half second. */
export async function polled(
  world: TmuxWorld,
  terminal: string,
  pane: string,
  mark: string,
): Promise<number> {
  const handle = openSync(terminal, 'w');
  const { sandbox, socketName } = world;
  try {
    // Written at any moment between two looks.
    await sleep(Math.random() * POLL_MS);
    const began = monotonicMs();
    const phase = Math.random() * POLL_MS;
    writeSync(handle, `WORKER_DONE[${mark}]: all of it\r\n`);
    for (await sleep(phase); ; await sleep(POLL_MS)) {
      const text = await execTmux(sandbox, socketName, 'capture-pane', '-p', '-t', pane);
      if (text.includes(mark)) return monotonicMs() - began;
    }
  } finally {
    closeSync(handle);
  }
}
