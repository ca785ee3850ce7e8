import { EventSource } from 'eventsource';
import { get, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/clock.js';
import { GATEWAY_START_MS, GatewayRig, readStream, TOKEN, type Frame } from '../../support/gateway-rig.js';
import { createSkipClock } from '../../support/skip-clock.js';
import { SocketReader } from '../../support/socket-reader.js';

const SCRIPT = `
name: streams
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
let run: string;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, [], { clock });
  session = await rig.session();
  run = await rig.say(session, 'say hello');
  await rig.over(run);
  await rig.until('the end of its process', () => rig.types(session).includes('run.attempt_ended'));
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const ids = (frames: readonly Frame[]) => frames.flatMap(({ id }) => (id === '' ? [] : [id]));

async function logged(id: string): Promise<string[]> {
  return (await rig.get(`/sessions/${id}/events?limit=1000`)).body.events.map(({ cursor }) => cursor);
}

/** Opens a stream; nothing of it is read before somebody listens. */
function openRaw(path: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${TOKEN}` };
    get(`${rig.running.url}${path}`, { headers }, resolve).on('error', reject);
  });
}

describe('/stream as server-sent events', () => {
  it('[C-62] [27] goes on after whichever Last-Event-ID, for each of two readers', async () => {
    const all = await logged(session);
    const path = `/stream?sessionId=${session}`;
    for (const index of all.keys()) {
      if (index === all.length - 1) break;
      const done = (frames: readonly Frame[]) => ids(frames).at(-1) === all.at(-1);
      const header = { 'last-event-id': all[index] ?? '' };
      const both = [readStream(rig, path, done, header), readStream(rig, `${path}&cursor=0`, done, header)];
      for (const frames of await Promise.all(both)) expect(ids(frames)).toEqual(all.slice(index + 1));
    }
    const beyond = { 'last-event-id': '999999' };
    const { status, body } = await rig.call('GET', path, undefined, beyond);
    expect([status, body.code]).toEqual([400, 'INVALID_CURSOR']);
  });

  it('shows several sessions and what is below them, and refuses what it cannot show', async () => {
    const other = await rig.session();
    const child = (await rig.post(`/runs/${run}/spawn`, { task: 'say child' })).body;
    const grandchild = (await rig.post(`/runs/${child.run.id}/spawn`, { task: 'say grandchild' })).body;
    await rig.over(child.run.id);
    await rig.over(grandchild.run.id);
    rig.note(other, 'the last');
    const last = (frames: readonly Frame[]) => frames.some(({ event }) => event === 'progress.reported');
    const seen = async (query: string) => {
      const frames = await readStream(rig, `/stream?${query}`, last);
      return new Set(frames.flatMap(({ id, data }) => (id === '' ? [] : [data.session_id])));
    };
    const both = `sessionId=${session}&sessionId=${other}`;
    expect(await seen(both)).toEqual(new Set([session, other]));
    expect(await seen(`${both}&include_children=1`)).toEqual(
      new Set([session, other, child.session.id, grandchild.session.id]),
    );
    expect((await rig.get('/stream')).body.code).toBe('INVALID_INPUT');
    expect((await rig.get('/stream?sessionId=00000000')).body.code).toBe('SESSION_NOT_FOUND');
    const agent = { authorization: `Bearer ${rig.agentToken(run)}` };
    expect((await rig.call('GET', `/stream?${both}`, undefined, agent)).status).toBe(403);
  });

  it('[30] says that it is alive every 15 s, in a way that no client takes for an event', async () => {
    const response = await openRaw(`/stream?sessionId=${session}&cursor=latest`);
    let text = '';
    response.on('data', (chunk: Buffer) => (text += chunk.toString()));
    await rig.until('its beginning', () => /^event: caught_up\ndata: .*\n\n/m.test(text));
    const beginning = text;
    for (const beats of [1, 2]) {
      time.skip(15_000);
      const expected = `${beginning}${': still here\n\n'.repeat(beats)}`;
      await rig.until('a heartbeat', () => text.length >= expected.length);
      expect(text).toBe(expected);
    }
    response.destroy();
  });

  it('[30] [C-62] is cut off when nothing is taken for 30 s, and goes on after the last whole event', async () => {
    const loud = await rig.session();
    set.length = 0;
    const response = await openRaw(`/stream?sessionId=${loud}`);
    for (let index = 0; index < 200; index += 1) rig.note(loud, `${index} ${'x'.repeat(100_000)}`);
    await rig.until('a full connection', () => set.includes(30_000));
    time.skip(30_000);
    let text = '';
    let isOver = false;
    response.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    response.on('error', () => undefined).on('close', () => (isOver = true));
    await rig.until('its end', () => isOver);
    const whole = text.split('\n\n').slice(0, -1);
    const got = whole.flatMap((block) => /^id: (\d+)$/m.exec(block)?.[1] ?? []);
    const all = await logged(loud);
    expect(got.length).toBeLessThan(all.length);
    const done = (frames: readonly Frame[]) => ids(frames).at(-1) === all.at(-1);
    const header = { 'last-event-id': got.at(-1) ?? '0' };
    const rest = await readStream(rig, `/stream?sessionId=${loud}`, done, header);
    expect([...got, ...ids(rest)]).toEqual(all);
  });

  it('a stock EventSource follows over a restart of the daemon, without gap or double', async () => {
    const port = String(rig.running.port);
    const followed = await rig.session();
    const source = new EventSource(`${rig.running.url}/stream?sessionId=${followed}`, {
      fetch: (url, init) =>
        fetch(url, { ...init, headers: { ...init.headers, authorization: `Bearer ${TOKEN}` } }),
    });
    const seen: string[] = [];
    for (const type of ['session.created', 'worker.created', 'progress.reported'])
      source.addEventListener(type, ({ lastEventId }) => seen.push(lastEventId));
    const known = () => rig.types(followed).length;
    for (const note of ['one', 'two']) rig.note(followed, note);
    await rig.until('the events before', () => seen.length === known());
    await rig.running.stop();
    await rig.start(['--port', port]);
    for (const note of ['three', 'four']) rig.note(followed, note);
    await rig.until('the events after', () => seen.length >= known());
    rig.note(followed, 'live');
    await rig.until('the last', () => seen.length >= known());
    source.close();
    expect(seen).toEqual(await logged(followed));
  });
});

describe('what a stream of server-sent events tells of itself', () => {
  it.each(['/stream?sessionId=', '/sessions/'])(
    '%s: where it begins, and that all before is written',
    async (path) => {
      const at = (await logged(session)).at(-3) ?? '';
      const address = path.endsWith('/')
        ? `${path}${session}/stream?cursor=${at}`
        : `${path}${session}&cursor=${at}`;
      const frames = await readStream(rig, address, (seen) => seen.at(-1)?.event === 'caught_up');
      const own = (frame: Frame | undefined) => ({ event: frame?.event, id: frame?.id, ...frame?.data });
      expect(own(frames[0])).toMatchObject({ event: 'hello', id: '', cursor: at, session: { id: session } });
      expect(own(frames.at(-1))).toEqual({
        ...{ event: 'caught_up', type: 'caught_up', id: '' },
        cursor: String(rig.store.head()),
      });
      expect(ids(frames)).toEqual((await logged(session)).slice(-2));
    },
  );
});

describe('[31] a stream', () => {
  it('without a token is refused, as server-sent events and as a socket', async () => {
    const stream = async (path: string, headers: Record<string, string> = {}) =>
      (await fetch(`${rig.running.url}${path}`, { headers })).status;
    for (const path of [`/stream?sessionId=${session}`, `/sessions/${session}/stream`]) {
      expect(await stream(path)).toBe(401);
      expect(await stream(path, { authorization: 'Bearer wrong' })).toBe(401);
      expect(await stream(`${path}${path.includes('?') ? '&' : '?'}ticket=wrong`)).toBe(401);
      // The token itself in an address opens nothing.
      for (const name of ['token', 'access_token', 'ticket', 'authorization'])
        expect(await stream(`${path}${path.includes('?') ? '&' : '?'}${name}=${TOKEN}`)).toBe(401);
    }
    const socket = new SocketReader(rig, `?sessionId=${session}&ticket=${TOKEN}`, {});
    expect((await socket.over()).code).toBe(4401);
    const asked = await fetch(`${rig.running.url}/stream/tickets`, { method: 'POST' });
    expect(asked.status).toBe(401);
  });
});

describe('a ticket', () => {
  const issue = async (headers: Record<string, string> = {}) => {
    const { status, text } = await rig.post('/stream/tickets', undefined, headers);
    expect(status).toBe(201);
    return JSON.parse(text) as { ticket: string; expires_at: string };
  };

  it('opens one stream, once: a socket or server-sent events', async () => {
    const { ticket } = await issue();
    const reader = await new SocketReader(rig, `?sessionId=${session}&ticket=${ticket}`, {}).caughtUp();
    expect(reader.types).toContain('run.succeeded');
    const again = new SocketReader(rig, `?sessionId=${session}&ticket=${ticket}`, {});
    expect((await again.over()).code).toBe(4401);
    await reader.close();
    const other = (await issue()).ticket;
    const path = `${rig.running.url}/stream?sessionId=${session}&ticket=${other}`;
    const first = await fetch(path);
    expect([first.status, first.headers.get('content-type')]).toEqual([200, 'text/event-stream']);
    await first.body?.cancel();
    expect((await fetch(path)).status).toBe(401);
  });

  it('is good for no more than a minute, and for nothing but a stream', async () => {
    const { ticket, expires_at: until } = await issue();
    expect(Date.parse(until) - clock.now()).toBeGreaterThan(0);
    expect(Date.parse(until) - clock.now()).toBeLessThanOrEqual(60_000);
    const bearer = { authorization: `Bearer ${ticket}` };
    expect((await rig.call('GET', '/sessions', undefined, bearer)).status).toBe(401);
    expect((await fetch(`${rig.running.url}/sessions?ticket=${ticket}`)).status).toBe(401);
    time.skip(Date.parse(until) - clock.now());
    const late = new SocketReader(rig, `?sessionId=${session}&ticket=${ticket}`, {});
    expect((await late.over()).code).toBe(4401);
  });

  it('reaches as far as who asked for it: of an agent, to what is below its session', async () => {
    const agent = { authorization: `Bearer ${rig.agentToken(run)}` };
    const above = new SocketReader(rig, `?sessionId=${session}&ticket=${(await issue(agent)).ticket}`, {});
    expect((await above.over()).code).toBe(4403);
    const child = (await rig.post(`/runs/${run}/spawn`, { task: 'say below' })).body;
    await rig.over(child.run.id);
    const query = `?sessionId=${child.session.id}&ticket=${(await issue(agent)).ticket}`;
    const below = await new SocketReader(rig, query, {}).caughtUp();
    expect(below.types).toContain('run.succeeded');
    await below.close();
  });

  it('that nobody uses does not pile up', async () => {
    const { ticket } = await issue();
    for (let index = 0; index < 1_000; index += 50)
      await Promise.all(Array.from({ length: 50 }, () => issue()));
    const oldest = new SocketReader(rig, `?sessionId=${session}&ticket=${ticket}`, {});
    expect((await oldest.over()).code).toBe(4401);
  });
});
