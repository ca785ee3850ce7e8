import { afterEach, expect, it } from 'vitest';
import { acceptInstruction } from '../../../src/services/engine/instruct.js';
import { FIRST_WORKER } from '../../../src/services/gateway/conversation-row.js';
import { newConversation } from '../../../src/services/gateway/create-conversation.js';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const SCRIPT = `
name: backlog
workers:
  - contains: hang
    steps: [{ say: hanging }, { silence: true }]
`;

let rig: GatewayRig;
afterEach(() => rig.close(), GATEWAY_START_MS);

/** So many runs wait, ten in each session, as if a daemon had accepted them and died. */
function queue(runs: number): void {
  const { gateway } = rig.running;
  gateway.store.transaction((tx) => {
    for (let session = 0; session < runs / 10; session++) {
      const sessionId = newConversation(gateway, tx, {
        ...{ title: 'waits', providers: ['scripted'], cwd: rig.work },
        options: { permissions: 'agent', metadata: {}, parent: null, depth: 0 },
      });
      const deps = { sessionId, newId: () => gateway.newId() };
      for (let run = 0; run < 10; run++) {
        const worker = tx.worker(sessionId, FIRST_WORKER);
        if (worker === null) throw new Error('a conversation without a worker');
        const kind = run === 0 ? 'task' : 'follow_up';
        acceptInstruction(deps, tx, worker, { kind, text: 'hang', sender: 'client', source: 'rest' });
      }
    }
  });
}

/** Milliseconds from the start of a daemon until it claims the first run that waits. */
async function untilFirstClaim(): Promise<number> {
  const { store } = rig;
  const after = store.head();
  await rig.running.stop();
  await rig.start(['--max-concurrency', '4']);
  const claim = () => rig.store.events({ after, types: ['run.started'], limit: 1 })[0];
  await rig.until('the first claim', () => claim() !== undefined);
  return Date.parse(claim()?.at ?? '') - Date.parse(rig.running.gateway.settings.startedAt);
}

it(
  'a daemon that finds ten thousand runs waiting begins about as soon as with a hundred, and has them all',
  async () => {
    rig = await GatewayRig.start(SCRIPT, ['--max-concurrency', '4']);
    queue(100);
    const few = await untilFirstClaim();
    queue(10_000);
    const many = await untilFirstClaim();
    expect(many / few).toBeLessThan(10);
    const counts = (await rig.get('/daemon/status')).body as unknown as {
      queue_counts: Record<string, number>;
    };
    const { queued_count: queued = 0, running_count: running = 0 } = counts.queue_counts;
    const { interrupted_count: interrupted = 0 } = counts.queue_counts;
    expect(running).toBe(4);
    expect(queued + running + interrupted).toBe(10_100);
  },
  GATEWAY_START_MS,
);
