import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig, TOKEN } from '../../support/gateway-rig.js';
import { createSkipClock } from '../../support/skip-clock.js';

const SCRIPT = `
name: tools
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - contains: hang
    steps: [{ say: hanging }, { silence: true }]
`;

const clock = createSkipClock();
let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, ['--max-concurrency', '8'], { clock });
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

async function connect(token: string, path = '/mcp'): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL(`${rig.running.url}${path}`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport);
  clients.push(client);
  return client;
}

const toolsOf = async (client: Client) => (await client.listTools()).tools.map(({ name }) => name);

async function call(client: Client, name: string, input: object = {}) {
  const { structuredContent } = await client.callTool({ name, arguments: { ...input } });
  return structuredContent as Record<string, { id: string; state?: string; result_text?: string }>;
}

describe('the tools at /mcp', () => {
  it('of a client are its conversations: it makes one, says something, waits, and reads what happened', async () => {
    const client = await connect(TOKEN);
    expect(client.getInstructions()).toContain('create_session, then send_message');
    expect(await toolsOf(client)).toEqual(
      expect.arrayContaining(['create_session', 'list_events', 'send_message', 'wait_for_run']),
    );
    const { session } = await call(client, 'create_session', { title: 'by a tool' });
    const { run } = await call(client, 'send_message', { session_id: session!.id, text: 'say hello' });
    const waited = await call(client, 'wait_for_run', { run_id: run!.id });
    expect(waited).toMatchObject({ done: true, run: { state: 'succeeded', result_text: 'I say hello' } });
    const { events } = await call(client, 'list_events', { session_id: session!.id });
    expect(events).toContainEqual(expect.objectContaining({ type: 'run.succeeded' }));
  });

  it('of an agent are what is below its run, without ids of its own', async () => {
    const run = await rig.say(await rig.session(), 'say one');
    await rig.over(run);
    const client = await connect(rig.agentToken(run));
    const tools = await toolsOf(client);
    expect(tools).toEqual(expect.arrayContaining(['reply_parent', 'send_to_session', 'spawn_session']));
    expect(tools).not.toContain('create_session');
    const { tools: shown } = await client.listTools();
    const spawn = shown.find(({ name }) => name === 'spawn_session')!;
    expect(spawn.inputSchema.properties).not.toHaveProperty('run_id');
    const spawned = await call(client, 'spawn_session', { task: 'say two' });
    const waited = await call(client, 'wait_for_run', { run_id: spawned['run']!.id });
    expect(waited).toMatchObject({ done: true, run: { result_text: 'I say two' } });
  });

  it('want a token, and that of an agent only its own', async () => {
    const { status } = await rig.post(
      '/mcp',
      { jsonrpc: '2.0', id: 1, method: 'tools/list' },
      {
        authorization: 'Bearer nothing',
      },
    );
    expect(status).toBe(401);
    await expect(connect('nothing')).rejects.toThrow('UNAUTHENTICATED');
  });
});

describe('a wait', () => {
  /** Of a child of `own` that never ends. */
  async function waiting(client: Client, own: string) {
    const { body } = await rig.post(`/runs/${own}/spawn`, { task: 'hang' });
    const run = body.run.id;
    await rig.until('its run', () => rig.store.run(run)?.state === 'running');
    const told: string[] = [];
    let isOver = false;
    const answer = client
      .callTool({ name: 'wait_for_run', arguments: { run_id: run, timeout_s: 3_600 } }, undefined, {
        onprogress: ({ message = '' }) => void told.push(message),
        timeout: 60_000,
      })
      .then(({ structuredContent }) => {
        isOver = true;
        return structuredContent;
      });
    return { run, told, answer, isOver: () => isOver };
  }

  /** Lets so many pass, one by one, or until something is so. */
  async function seconds(most: number, isSo: () => boolean): Promise<void> {
    for (let passed = 0; passed < most && !isSo(); passed++) {
      clock.skip(1_000);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }

  it.each([
    ['a client that we do not know', 45, () => TOKEN],
    ['an agent', 100, (run: string) => rig.agentToken(run)],
  ] as const)(
    'of %s is answered before its %d s are over, and tells that we are alive',
    async (_, limit, token) => {
      const own = await rig.say(await rig.session(), 'say one');
      await rig.over(own);
      const client = await connect(token(own));
      const below = await waiting(client, own);
      await seconds(60, () => below.told.length > 0);
      expect(below.told[0]).toBe(`run ${below.run} is running`);
      // The first sign came after 15 s of it.
      await seconds(limit - 15 - 10, below.isOver);
      expect(below.isOver()).toBe(false);
      await seconds(10, below.isOver);
      expect(await below.answer).toMatchObject({ done: false, timed_out: true });
      await rig.post(`/runs/${below.run}/cancel`);
    },
  );
});
