import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig, readStream, type Frame } from '../../support/gateway-rig.js';

const SCRIPT = `
name: events
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
`;

let rig: GatewayRig;
let session: string;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT);
  session = await rig.session();
  await rig.over(await rig.say(session, 'say hello'));
  // The end of the process comes after the end of the run.
  await rig.until('the end of its process', () => rig.types(session).includes('run.attempt_ended'));
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const durable = (frames: readonly Frame[]) => frames.filter(({ id }) => id !== '').map(({ id }) => id);
const ended = (times: number) => (frames: readonly Frame[]) =>
  frames.filter(({ event }) => event === 'run.succeeded').length === times;

describe('events', () => {
  it('[24] are read page by page, each once and in order, with a cursor that can be used again', async () => {
    const all = (await rig.get(`/sessions/${session}/events?limit=1000`)).body.events;
    expect(all.length).toBeGreaterThan(8);
    const seen: string[] = [];
    let cursor = '0';
    for (let more = true; more;) {
      const { body } = await rig.get(`/sessions/${session}/events?limit=2&cursor=${cursor}`);
      expect(body.events.length).toBeLessThanOrEqual(2);
      seen.push(...body.events.map((event) => event.cursor));
      cursor = body.next_cursor ?? '';
      more = body.has_more;
    }
    expect(seen).toEqual(all.map((event) => event.cursor));
    const { body } = await rig.get(`/sessions/${session}/events?cursor=${cursor}`);
    expect(body).toEqual({ events: [], next_cursor: cursor, has_more: false });
  });

  it('[25] after a cursor that no answer ever held are refused', async () => {
    for (const cursor of ['nonsense', '-1', '999999999', '1.5']) {
      const { status, body } = await rig.get(`/sessions/${session}/events?cursor=${cursor}`);
      expect([cursor, status, body.code]).toEqual([cursor, 400, 'INVALID_CURSOR']);
      expect((await rig.get(`/sessions/${session}/stream?cursor=${cursor}`)).status).toBe(400);
    }
  });

  it('that are still to come are waited for', async () => {
    const other = await rig.session();
    const head = (await rig.get(`/sessions/${other}`)).body.cursor;
    const page = rig.get(`/sessions/${other}/events?cursor=${head}&wait_s=20`);
    await rig.say(other, 'say later');
    expect((await page).body.events[0]?.type).toBe('message.accepted');
  });
});

describe('a stream', () => {
  it('[27] goes on exactly after Last-Event-ID, in this daemon and in the next', async () => {
    const whole = durable(await readStream(rig, `/sessions/${session}/stream`, ended(1)));
    const middle = whole[3] ?? '';
    const rest = await readStream(rig, `/sessions/${session}/stream?cursor=0`, ended(1), {
      'last-event-id': middle,
    });
    expect(durable(rest)).toEqual(whole.slice(4));
    await rig.running.stop();
    await rig.start();
    const after = await readStream(rig, `/sessions/${session}/stream?cursor=${middle}`, ended(1));
    expect(durable(after)).toEqual(whole.slice(4));
  });

  it('[28] joins the past and what is written meanwhile without gap or double', async () => {
    const busy = await rig.session();
    const snapshot = (await rig.get(`/sessions/${busy}`)).body.cursor;
    for (const word of ['one', 'two']) await rig.say(busy, `say ${word}`);
    const reading = readStream(rig, `/sessions/${busy}/stream?cursor=${snapshot}`, ended(4));
    for (const word of ['three', 'four']) await rig.say(busy, `say ${word}`);
    const frames = await reading;
    const { events } = (await rig.get(`/sessions/${busy}/events?cursor=${snapshot}&limit=1000`)).body;
    const ids = durable(frames);
    expect(ids).toEqual(events.map(({ cursor }) => cursor).slice(0, ids.length));
    const told = frames.filter(({ event }) => event !== 'hello' && event !== 'caught_up');
    expect(told.every(({ data }) => data.session_id === busy)).toBe(true);
  });
});
