import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'vitest';
import { createRig, until, type Recorder, type Rig } from '../support/recorder/rig.js';
import { compareAll, figure, median, quantile } from './support/rows.js';
import { CROWDS, execTmux, monotonicMs } from './support/tmux.js';

const SOCKET = 'rig';
const TEXT = 'the quick brown fox jumps over the lazy dog '.repeat(23);
/** A screen that has just changed is read once more when it has been still for a while; a message to an agent that idles need not wait for that. */
const STILL_MS = 300;
/** The pauses that tools take before Enter, for want of a sign. */
const PAUSES = [100, 300];

/** From the call until the program has read Enter, ms. */
async function reached(recorder: Recorder, call: () => Promise<unknown>): Promise<number> {
  await sleep(STILL_MS);
  const before = recorder.entersAt().length;
  const began = monotonicMs();
  await call();
  await until('Enter is read', () => recorder.entersAt().length > before);
  return (recorder.entersAt()[before] ?? NaN) - began;
}

/** The rival: a buffer, a fixed pause, and Enter, each by a client of its own. */
async function byPause({ sandbox }: Rig, paneId: string, pauseMs: number): Promise<void> {
  const file = join(sandbox.root, 'text');
  writeFileSync(file, TEXT);
  await execTmux(sandbox, SOCKET, 'load-buffer', '-b', 'bench', file);
  await execTmux(sandbox, SOCKET, 'paste-buffer', '-p', '-r', '-d', '-b', 'bench', '-t', paneId);
  await sleep(pauseMs);
  await execTmux(sandbox, SOCKET, 'send-keys', '-t', paneId, 'Enter');
}

it.each([1, ...CROWDS])('[G8] one message beside %i agents', async (agents) => {
  const rig = await createRig();
  try {
    const crowd: Recorder[] = [];
    for (let started = 0; started < agents; started++)
      crowd.push(await rig.start({ workMs: 0, collapse: true }));
    await Promise.all(crowd.map(({ agent }) => agent.ready()));
    const [one] = crowd;
    if (one === undefined) throw new Error('nobody is there');
    const all: number[] = [];
    await compareAll({
      ...{ goal: 'G8', unit: 'ms', what: `message of 1 kB → Enter read, beside ${agents} agents` },
      ours: async () => {
        const times: number[] = [];
        for (let sent = 0; sent < 5; sent++)
          times.push(await reached(one, () => one.send(`${sent} ${TEXT}`).delivery));
        all.push(...times);
        return median(times);
      },
      rivals: PAUSES.map((pauseMs) => ({
        what: `a fixed pause of ${pauseMs} ms`,
        run: () => reached(one, () => byPause(rig, one.paneId, pauseMs)),
        target: { atLeast: pauseMs / 2 },
      })),
    });
    const what = `the same beside ${agents} agents`;
    figure({ goal: 'G8', unit: 'ms', what: `${what}, p50`, ours: median(all), atMost: 2 });
    figure({ goal: 'G8', unit: 'ms', what: `${what}, p99`, ours: quantile(all, 0.99) });
  } finally {
    await rig.close();
  }
});
