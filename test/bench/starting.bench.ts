import { it } from 'vitest';
import { compareAll } from './support/rows.js';
import { Starting } from './support/starting.js';
import { openWorld } from './support/tmux.js';

/** How long agents take before they take input: a small program, and those that people use. */
it.each([0, 1_500])('[G7] an agent that takes %i ms to start', async (startDelayMs) => {
  const world = await openWorld();
  try {
    const starting = new Starting(world, await world.look(), startDelayMs);
    await compareAll({
      ...{ goal: 'G7', unit: 'ms', what: `start → takes input, an agent with ${startDelayMs} ms of its own` },
      ours: () => starting.ours(),
      rivals: [
        { what: 'the agent alone', run: () => starting.directly(), target: { atMost: 1.05 } },
        { what: 'a stable shell and looks', run: () => starting.throughStableShell() },
      ],
    });
  } finally {
    await world.sandbox.close();
  }
});
