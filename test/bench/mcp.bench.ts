import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, it } from 'vitest';
import { compiledModules } from '../support/compiled.js';
import { cpuOf } from './support/cpu.js';
import { Caller, Served } from './support/mcp.js';
import { compare, figure, median, quantile } from './support/rows.js';

const CALLS = 640;
const POLL_MS = 1_000;

interface Session {
  readonly url: string;
  readonly lead: string;
  readonly client: string;
}

interface Worker {
  readonly id: string;
  readonly token: string;
}

let folder: string;
let session: Served<Session>;
const callers: Caller[] = [];
const agents = new Map<string, Promise<Caller>>();
beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'ao-bench-'));
  session = await Served.start<Session>('session.mjs', await compiledModules(), folder);
});
afterEach(async () => {
  callers.splice(0).forEach((caller) => caller.close());
  agents.clear();
  await session.close();
  rmSync(folder, { recursive: true });
});

const caller = (url: string, token: string): Caller => {
  const made = new Caller(url, token);
  callers.push(made);
  return made;
};
const lead = () => caller(session.told.url, session.told.lead).initialize();
const workers = (count: number) => session.ask<Worker[]>({ count });

it('[G23] tools/call', async () => {
  await workers(8);
  const rival = await Served.start('stateless.mjs');
  await rival.ask(await (await lead()).tool('list_workers'));
  const one = { ours: [await lead()], rival: [caller(rival.told.url, '')] };
  const p50 = async ([client]: readonly Caller[]) => {
    const times: number[] = [];
    for (let call = 0; call < 100; call++) times.push(await took(() => client!.tool('list_workers')));
    return median(times);
  };
  const { ours } = await compare({
    ...{ goal: 'G23', unit: 'ms', what: 'list_workers, one client, p50; rival: the SDK’s stateless server' },
    target: { atLeast: 1.5 },
    ours: () => p50(one.ours),
    rival: () => p50(one.rival),
  });
  figure({ goal: 'G23', unit: 'ms', what: 'the same: p50', ours, atMost: 2 });
  for (const clients of [8, 32, 64]) {
    // Half by the lead’s token and half by a person’s: each may have 32 clients.
    const { url, lead: first, client: second } = session.told;
    const all = await Promise.all(
      Array.from({ length: clients }, (_, index) =>
        caller(url, index % 2 === 0 ? first : second).initialize(),
      ),
    );
    const rivals = Array.from({ length: clients }, () => caller(rival.told.url, ''));
    const cpu = async (pid: number, each: readonly Caller[]) => {
      const before = cpuOf(pid);
      await Promise.all(
        each.map(async (client) => {
          for (let call = 0; call < CALLS / clients; call++) await client.tool('list_workers');
        }),
      );
      return ((cpuOf(pid) - before) * 1_000) / CALLS;
    };
    await compare({
      ...{ goal: 'G23', unit: 'µs' },
      what: `list_workers, ${clients} clients, CPU per call; rival: the SDK’s stateless server`,
      ...(clients === 64 ? { target: { atLeast: 1.6 } } : {}),
      ours: () => cpu(session.pid, all),
      rival: () => cpu(rival.pid, rivals),
    });
  }
  await rival.close();
});

async function took(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

/** The MCP client of a worker’s agent. */
const agentOf = ({ token }: Worker): Promise<Caller> => {
  const known = agents.get(token) ?? caller(session.told.url, token).initialize();
  agents.set(token, known);
  return known;
};

/** The agent reports, and its turn ends. Resolves with when the report was sent. */
async function report(agent: Caller): Promise<number> {
  const at = performance.now();
  await agent.tool('report_blocked', { reason: 'no access' });
  await agent.post('/hooks', { hook_event_name: 'Stop', last_assistant_message: 'no access' });
  return at;
}

it.each([1, 8, 32, 64])('[G24] from a report to the lead, with %i calls that wait', async (waiting) => {
  const client = await lead();
  const wait = (id: string) => client.tool('wait_for_worker', { worker_id: id });
  const [first, ...others] = (await workers(waiting)) as [Worker, ...Worker[]];
  const agent = await agentOf(first);
  await report(agent);
  // Theirs stay blocked all the time.
  for (const { id } of others) void wait(id).catch(() => undefined);
  const all: number[] = [];
  const ours = async () => {
    await workers(1);
    const answered = wait(first.id).then(() => performance.now());
    await client.tool('list_workers');
    const [from, at] = await Promise.all([report(agent), answered]);
    all.push(at - from);
    return at - from;
  };
  const isOver = async () => {
    const { workers: rows } = await client.tool('list_workers');
    return (rows as { id: string; state: string }[])[0]?.state !== 'running';
  };
  const rival = async () => {
    await workers(1);
    const at = pause(Math.random() * POLL_MS).then(() => report(agent));
    while (!(await isOver())) await pause(POLL_MS);
    return performance.now() - (await at);
  };
  const what = `a worker reports → wait_for_worker answers, ${waiting} waiting`;
  const goal = { goal: 'G24', unit: 'ms' };
  await compare({
    ...goal,
    what: `${what}; rival: asked once a second`,
    target: { atLeast: 150 },
    ours,
    rival,
  });
  figure({ ...goal, what: `p50, ${what}`, ours: median(all), atMost: 3 });
  figure({ ...goal, what: `p99, ${what}`, ours: quantile(all, 0.99), atMost: 5 });
});

const pause = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms));
