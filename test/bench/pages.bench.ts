import { it } from 'vitest';
import { GatewayRig } from '../support/gateway-rig.js';
import { addConversations, medians, PAGES } from '../support/many-conversations.js';
import { row } from './row.js';

const SCRIPT = 'name: bench\nworkers: [{ contains: hello, steps: [{ say: hello }] }]\n';
const TIMES = 31;
const SIZES = [
  { sessions: 20, runs: 20, events: 100 },
  { sessions: 300, runs: 1_000, events: 10_000 },
  { sessions: 300, runs: 1_000, events: 100_000 },
];

it.each(SIZES)('[69] pages among $events events and $runs runs', async (size) => {
  const rig = await GatewayRig.start(SCRIPT);
  try {
    const place = addConversations(rig.store, size);
    const head = rig.store.head();
    const tasks = PAGES.map(
      ([, path]) =>
        () =>
          rig.get(path(place, head)),
    );
    for (const [index, median] of (await medians(tasks, TIMES)).entries())
      row(`${PAGES[index]?.[0]}, ${size.events} events, ${size.runs} runs`, median, 'ms');
  } finally {
    await rig.close();
  }
});
