import { spawn } from 'node:child_process';
import { Agent, request } from 'node:http';
import { afterEach, it } from 'vitest';
import { Bare } from './support/bare.js';
import { cpuOf, residentOf } from './support/cpu.js';
import { BenchDaemon, SPEAKER } from './support/daemon.js';
import { compare, figure } from './support/rows.js';

const POOL = 8;
const RUNS = 50;
const REQUESTS = 500;
/** An agent that works for half a second. */
const WORK = 'lines 5 every 100 ms of 100 bytes';

let daemon: BenchDaemon;
afterEach(() => daemon.close());

function startOf(line: string): bigint | null {
  const [, noted] = /"text":"started (\d+) /.exec(line) ?? [];
  return noted === undefined ? null : BigInt(noted);
}

it('from a message to the process of its agent', async () => {
  daemon = await BenchDaemon.start();
  const bare = await Bare.start(daemon.folder);
  await compare({
    ...{
      goal: 'start',
      unit: 'ms',
      what: 'a message is posted → its agent’s process has started; rival: a bare spawn',
    },
    rounds: 31,
    async ours() {
      const session = await daemon.session();
      let started: bigint | null = null;
      await daemon.stream(session, (line) => (started ??= startOf(line)));
      const asked = process.hrtime.bigint();
      await daemon.over(await daemon.say(session, 'nothing'));
      daemon.hangUp();
      return Number((started ?? asked) - asked) / 1e6;
    },
    rival: () => bare.start(),
  });
  await bare.close();
});

it('[G22] a message for which no agent is started', async () => {
  daemon = await BenchDaemon.start();
  const bare = await Bare.start(daemon.folder);
  const url = await bare.serve();
  const session = await daemon.session();
  const agent = new Agent({ keepAlive: true });
  await compare({
    ...{ goal: 'G22', unit: 'µs', what: 'CPU per message accepted; rival: node:http, parse, append' },
    target: { atMost: 1.3 },
    async ours() {
      const before = cpuOf(daemon.pid);
      for (let sent = 0; sent < REQUESTS; sent++)
        await daemon.call('POST', `/sessions/${session}/messages`, { text: 'text', role: 'system' });
      return ((cpuOf(daemon.pid) - before) * 1_000) / REQUESTS;
    },
    async rival() {
      const before = cpuOf(bare.pid);
      for (let sent = 0; sent < REQUESTS; sent++) await post(agent, url, { text: 'text', role: 'system' });
      return ((cpuOf(bare.pid) - before) * 1_000) / REQUESTS;
    },
  });
  agent.destroy();
  await bare.close();
});

function post(agent: Agent, url: string, body: object): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = { 'content-type': 'application/json' };
    const asked = request(url, { method: 'POST', agent, headers }, (response) => {
      response.resume().on('end', resolve);
    });
    asked.on('error', reject).end(JSON.stringify(body));
  });
}

it('fifty runs in a pool of eight', async () => {
  daemon = await BenchDaemon.start(['--max-concurrency', String(POOL)]);
  await compare({
    ...{
      goal: 'pool',
      unit: 'ms',
      what: `${RUNS} runs in a pool of ${POOL}; rival: the agents alone, ${POOL} at a time`,
    },
    rounds: 5,
    async ours() {
      const began = performance.now();
      const runs = await Promise.all(
        Array.from({ length: RUNS }, async () => daemon.say(await daemon.session(), WORK)),
      );
      await Promise.all(runs.map((run) => daemon.over(run)));
      return performance.now() - began;
    },
    async rival() {
      const began = performance.now();
      let left = RUNS;
      const place = async () => {
        while (left-- > 0) await bareWork();
      };
      await Promise.all(Array.from({ length: POOL }, place));
      return performance.now() - began;
    },
  });
});

function bareWork(): Promise<void> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [SPEAKER], {
      ...{ env: { PATH: process.env['PATH'] }, stdio: ['pipe', 'ignore', 'inherit'] },
    });
    child.stdin.end(WORK);
    child.on('close', () => resolve());
  });
}

it('sessions in which nothing happens', async () => {
  daemon = await BenchDaemon.start();
  const add = async (count: number) => {
    for (let made = 0; made < count; made++) {
      const session = await daemon.session();
      await daemon.say(session, 'text', { executor: 'external' });
    }
  };
  await add(100);
  const before = residentOf(daemon.pid);
  figure({ goal: 'memory', what: 'resident memory of agentd with 100 sessions', unit: 'MB', ours: before });
  for (const more of [1_000, 2_000]) {
    await add(more);
    const grown = ((residentOf(daemon.pid) - before) * 1_024) / more;
    figure({
      goal: 'memory',
      what: `per session, ${more} more of them, all kept awake`,
      unit: 'kB',
      ours: grown,
    });
  }
});
