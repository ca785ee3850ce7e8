import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/clock.js';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';
import { createSkipClock } from '../../support/skip-clock.js';
import { SocketReader } from '../../support/socket-reader.js';

const SCRIPT = `
name: sockets
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
`;

const time = createSkipClock();
/** Every bound that was set, ms. */
const set: number[] = [];
const clock: Clock = {
  ...time,
  after(delayMs, task) {
    set.push(delayMs);
    return time.after(delayMs, task);
  },
};

let rig: GatewayRig;
let session: string;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, [], { clock });
  session = await finished();
}, GATEWAY_START_MS);
afterAll(() => rig.close());

/** A session in which something was said and answered, its process ended. */
async function finished(): Promise<string> {
  const id = await rig.session();
  await rig.over(await rig.say(id, 'say hello'));
  await rig.until('the end of its process', () => rig.types(id).includes('run.attempt_ended'));
  return id;
}

async function logged(id: string, cursor = '0'): Promise<string[]> {
  const { events } = (await rig.get(`/sessions/${id}/events?cursor=${cursor}&limit=1000`)).body;
  return events.map((event) => event.cursor);
}

const open = (query: string, headers?: Record<string, string>) => new SocketReader(rig, query, headers);

describe('a WebSocket', () => {
  it('says hello, gives what was, says that this was all, and then what comes', async () => {
    const reader = await open(`?sessionId=${session}`).caughtUp();
    const past = await logged(session);
    expect(reader.frames[0]).toMatchObject({ type: 'hello', cursor: '0', session: { id: session } });
    expect(reader.cursors).toEqual(past);
    expect(reader.frames.at(-1)).toEqual({ type: 'caught_up', cursor: String(rig.store.head()) });
    rig.note(session, 'more');
    await reader.until('what comes', ({ types }) => types.includes('progress.reported'));
    expect(reader.types.slice(-2)).toEqual(['caught_up', 'progress.reported']);
    await reader.close();
  });

  it('[27] with a cursor goes on exactly after it, whichever it is', async () => {
    const all = await logged(session);
    for (const [index, cursor] of all.entries()) {
      const reader = await open(`?sessionId=${session}&cursor=${cursor}`).caughtUp();
      expect([cursor, reader.cursors]).toEqual([cursor, all.slice(index + 1)]);
      expect(reader.frames[0]).toMatchObject({ type: 'hello', cursor });
      await reader.close();
    }
    const newest = await open(`?sessionId=${session}&cursor=latest`).caughtUp();
    expect(newest.types).toEqual(['hello', 'caught_up']);
    await newest.close();
  });

  it('[28] joins a snapshot and what is written meanwhile without gap or double', async () => {
    const busy = await rig.session();
    const snapshot = (await rig.get(`/sessions/${busy}`)).body.cursor;
    const runs = [await rig.say(busy, 'say one'), await rig.say(busy, 'say two')];
    const reader = open(`?sessionId=${busy}&cursor=${snapshot}`);
    for (const word of ['three', 'four']) runs.push(await rig.say(busy, `say ${word}`));
    for (let index = 0; index < 300; index += 1) {
      rig.note(busy, `note ${index}`);
      if (index % 20 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    for (const run of runs) await rig.over(run);
    const log = await logged(busy, snapshot);
    await reader.until('all of it', ({ cursors }) => cursors.length >= log.length);
    expect(reader.cursors.slice(0, log.length)).toEqual(log);
    expect(reader.frames.filter(({ type }) => type === 'caught_up')).toHaveLength(1);
    await reader.close();
  });

  it('shows several sessions, and those below them where it is asked for, from their first event on', async () => {
    const [one, two] = [await finished(), await rig.session()];
    const run = rig.store.runs(one)[0]!.run_id;
    const both = await open(`?sessionId=${session}&sessionId=${two}`).caughtUp();
    const whole = await open(`?sessionId=${one}&include_children=1`).caughtUp();
    const alone = await open(`?sessionId=${one}`).caughtUp();
    expect(both.frames[0]?.sessions?.map(({ id }) => id)).toEqual([session, two]);
    const child = (await rig.post(`/runs/${run}/spawn`, { task: 'say child' })).body;
    await rig.over(child.run.id);
    rig.note(two, 'the last');
    rig.note(one, 'the last');
    for (const reader of [both, whole, alone])
      await reader.until('the last', ({ types }) => types.includes('progress.reported'));
    const seen = (reader: SocketReader) =>
      new Set(reader.frames.flatMap(({ event }) => event?.session_id ?? []));
    expect(seen(both)).toEqual(new Set([session, two]));
    expect(seen(alone)).toEqual(new Set([one]));
    expect(seen(whole)).toEqual(new Set([one, child.session.id]));
    const ofChild = whole.frames.filter(({ event }) => event?.session_id === child.session.id);
    expect(ofChild[0]?.event?.type).toBe('session.created');
    for (const reader of [both, whole, alone]) await reader.close();
  });

  it('of a client says what is wrong: 4401 no token, 4404 no such session, 4400 no such cursor', async () => {
    const refused = async (query: string, headers?: Record<string, string>) => {
      const reader = open(query, headers);
      const { code } = await reader.over();
      expect(reader.frames.map(({ type }) => type)).toEqual(['error']);
      return [code, reader.frames[0]?.error?.code];
    };
    expect(await refused(`?sessionId=${session}`, {})).toEqual([4401, 'UNAUTHENTICATED']);
    const wrong = { authorization: 'Bearer wrong' };
    expect(await refused(`?sessionId=${session}`, wrong)).toEqual([4401, 'UNAUTHENTICATED']);
    expect(await refused('?sessionId=00000000')).toEqual([4404, 'SESSION_NOT_FOUND']);
    expect(await refused(`?sessionId=${session}&cursor=999999`)).toEqual([4400, 'INVALID_CURSOR']);
    expect(await refused('')).toEqual([4422, 'INVALID_INPUT']);
    const agent = { authorization: `Bearer ${rig.agentToken(rig.store.runs(session)[0]!.run_id)}` };
    expect(await refused(`?sessionId=${session}`, agent)).toEqual([4403, 'FORBIDDEN']);
  });

  it('of an agent shows what is below its session', async () => {
    const run = rig.store.runs(session)[0]!.run_id;
    const child = (await rig.post(`/runs/${run}/spawn`, { task: 'say mine' })).body;
    await rig.over(child.run.id);
    const agent = { authorization: `Bearer ${rig.agentToken(run)}` };
    const reader = await open(`?sessionId=${child.session.id}`, agent).caughtUp();
    expect(reader.types).toContain('run.succeeded');
    await reader.close();
  });

  it('of nobody is at another address than /stream', async () => {
    for (const path of ['/sessions', `/sessions/${session}/stream`, '/health', '/nowhere']) {
      const reader = new SocketReader(rig, '', undefined, path);
      await reader.over();
      expect([path, reader.status]).toEqual([path, 422]);
    }
  });
});

describe('[30] a WebSocket that', () => {
  it('is idle gets a ping every 15 s', async () => {
    const reader = await open(`?sessionId=${session}&cursor=latest`).caughtUp();
    for (const pings of [1, 2, 3]) {
      time.skip(14_000);
      expect(reader.types.filter((type) => type === 'ping')).toHaveLength(pings - 1);
      time.skip(1_500);
      await reader.until('a ping', ({ types }) => types.filter((type) => type === 'ping').length === pings);
    }
    await reader.close();
  });

  it('takes nothing for 30 s is closed with 1013 and a cursor, and goes on there without gap or double', async () => {
    const loud = await rig.session();
    const reader = await open(`?sessionId=${loud}`).caughtUp();
    reader.socket.pause();
    set.length = 0;
    for (let index = 0; index < 200; index += 1) rig.note(loud, `${index} ${'x'.repeat(100_000)}`);
    await rig.until('a full connection', () => set.includes(30_000));
    // Not even then does it wait in memory: what the kernel does not take stays in the log.
    for (let index = 0; index < 20; index += 1) rig.note(loud, `late ${index}`);
    time.skip(30_000);
    reader.socket.resume();
    const { code, reason } = await reader.over();
    expect(code).toBe(1013);
    const cursor = /^cursor (\d+)$/.exec(reason)?.[1] ?? '';
    expect(reader.cursors.at(-1)).toBe(cursor);
    const log = await logged(loud);
    expect(reader.cursors.length).toBeLessThan(log.length - 20);
    const rest = await open(`?sessionId=${loud}&cursor=${cursor}`).caughtUp();
    expect([...reader.cursors, ...rest.cursors]).toEqual(log);
    await rest.close();
  });

  it('takes more again before that goes on by itself, without gap or double', async () => {
    const loud = await rig.session();
    const reader = await open(`?sessionId=${loud}`).caughtUp();
    reader.socket.pause();
    set.length = 0;
    for (let index = 0; index < 200; index += 1) rig.note(loud, `${index} ${'x'.repeat(100_000)}`);
    await rig.until('a full connection', () => set.includes(30_000));
    time.skip(10_000);
    reader.socket.resume();
    const log = await logged(loud);
    await reader.until('all of it', ({ cursors }) => cursors.length >= log.length);
    expect(reader.cursors).toEqual(log);
    // The patience of before is over with it.
    time.skip(31_000);
    rig.note(loud, 'still open');
    await reader.until('what comes', ({ cursors }) => cursors.length > log.length);
    expect(reader.end).toBeNull();
    await reader.close();
  });
});

describe('a daemon that stops', () => {
  it('closes with 1001, and a stock client goes on at the next daemon after its last event', async () => {
    const port = String(rig.running.port);
    const first = await open(`?sessionId=${session}`).caughtUp();
    rig.note(session, 'before');
    await first.until('it', ({ types }) => types.at(-1) === 'progress.reported');
    await rig.running.stop();
    expect(await first.over()).toEqual({ code: 1001, reason: 'agentd stops' });
    await rig.start(['--port', port]);
    rig.note(session, 'after');
    const second = await open(`?sessionId=${session}&cursor=${first.cursors.at(-1)}`).caughtUp();
    rig.note(session, 'later');
    await second.until('it', ({ types }) => types.at(-1) === 'progress.reported');
    expect([...first.cursors, ...second.cursors]).toEqual(await logged(session));
    await second.close();
  });
});
