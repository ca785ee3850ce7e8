import { afterAll, beforeAll, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';
import { addConversations, medians, PAGES } from '../../support/many-conversations.js';

const SCRIPT = `
name: pages
workers:
  - contains: hello
    steps: [{ say: hello }]
`;
const TIMES = 15;
/** A page that read everything would take hundreds of times as long. */
const AT_MOST_TIMES = 8;

let few: GatewayRig;
let many: GatewayRig;
let inFew: { session: string; run: string };
let inMany: { session: string; run: string };

beforeAll(async () => {
  few = await GatewayRig.start(SCRIPT);
  many = await GatewayRig.start(SCRIPT);
  inFew = addConversations(few.store, { sessions: 20, runs: 20, events: 100 });
  inMany = addConversations(many.store, { sessions: 300, runs: 1_000, events: 100_000 });
}, GATEWAY_START_MS * 2);
afterAll(async () => {
  await few.close();
  await many.close();
}, 60_000);

it.each(PAGES)(
  '[69] a page of %s takes about as long among 100 000 events and 1000 runs as among 100',
  { timeout: 120_000 },
  async (_what, path) => {
    const [one, other] = [path(inFew, few.store.head()), path(inMany, many.store.head())];
    const [small = NaN, large = NaN] = await medians([() => few.get(one), () => many.get(other)], TIMES);
    expect(large).toBeLessThan(small * AT_MOST_TIMES);
  },
);
