import { it } from 'vitest';
import { GatewayRig } from '../support/gateway-rig.js';
import { addConversations, PAGES } from '../support/many-conversations.js';
import { compare } from './support/rows.js';

const SCRIPT = 'name: bench\nworkers: [{ contains: hello, steps: [{ say: hello }] }]\n';
const FEW = { sessions: 20, runs: 20, events: 100 };
const MANY = { sessions: 300, runs: 1_000, events: 100_000 };

it('[69] pages among many events and runs, and among few', async () => {
  const few = await GatewayRig.start(SCRIPT);
  const many = await GatewayRig.start(SCRIPT);
  try {
    const places = [few, many].map((rig, index) => addConversations(rig.store, index === 0 ? FEW : MANY));
    for (const [name, path] of PAGES) {
      const taken = async (rig: GatewayRig, place = places[0]) => {
        const asked = path(place!, rig.store.head());
        const began = performance.now();
        await rig.get(asked);
        return performance.now() - began;
      };
      await compare({
        ...{ goal: 'pages', unit: 'ms', what: `${name}, ${MANY.events} events; rival: ${FEW.events}` },
        rounds: 31,
        ours: () => taken(many, places[1]),
        rival: () => taken(few, places[0]),
      });
    }
  } finally {
    await few.close();
    await many.close();
  }
});
