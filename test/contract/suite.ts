import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { personAt } from '../support/person.js';
import { ALLOWED } from '../support/real-agents/crew.js';
import { RealRig } from '../support/real-agents/rig.js';
import type { McpCaller } from '../support/session-rig.js';
import { commit, modelOf, SCRIPT } from './conversations.js';
import { kernelOf } from './kernel.js';
import { CASES, placeName, PLACES, type Place } from './table.js';

let rig: RealRig;
let lead: McpCaller;
let worker = '';

const GATED: Readonly<Record<string, Parameters<typeof modelOf>[0]>> = {
  claude: [`date && ${commit('asked')}`],
  codex: [commit('asked'), { escalate: true }],
  scripted: ['true'],
};

/** A session with workers of one kind; `asks`: they ask before they do what their own settings do not allow. */
async function open(place: Place, { asks }: { asks: boolean }): Promise<void> {
  const { agent, backend, format } = place;
  rig = await RealRig.create({ rules: modelOf(GATED[agent] ?? ['true']), settings: ALLOWED });
  const silent = await rig.silentLead();
  const options = { ...silent.agent_options?.['scripted'], ...(format === undefined ? {} : { format }) };
  await rig.start(SCRIPT, {
    ...silent,
    worker_agents: [agent],
    worker_backend: backend,
    agent_options: { scripted: options },
    bypass_permissions: !asks,
  });
  lead = await rig.lead();
}

async function spawn(task: string): Promise<void> {
  const spawned = await lead.ok('spawn_worker', { task });
  worker = String(spawned['worker_id']);
}
const send = (message: string) => lead.ok('send_to_worker', { worker_id: worker, message });
const ended = () => lead.ok('wait_for_worker', { worker_id: worker, timeout_s: 90 });
const threads = () =>
  new Set(
    rig
      .events()
      .filter(ofThread)
      .map(({ data }) => JSON.stringify(data)),
  );
const ofThread = ({ type, worker_id: id }: { type: string; worker_id?: string | undefined }) =>
  type === 'thread.opened' && id === worker;
const isAtWork = () =>
  rig.event('its turn', ({ type, worker_id: id }) => type === 'worker.working' && id === worker);

/** What is done in each case; the kernel is compared when all of it has been told. */
const PLAYS: Readonly<Record<string, () => Promise<void>>> = {
  'start, prompt, tool use, report': async () => {
    await spawn('make it');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'it is made' });
    const { branch } = rig.store.worker(rig.sessionId, worker) ?? {};
    expect(rig.repo.git('show', `${branch}:made.txt`)).toMatch(/^made/);
  },
  'follow-up': async () => {
    await spawn('make it, please');
    await ended();
    await send('once more');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'made again' });
    expect(threads().size).toBe(1);
  },
  question: async () => {
    await spawn('ask me first');
    expect(await ended()).toMatchObject({ state: 'waiting' });
    await rig.event('the end', ({ type, worker_id: id }) => type === 'message.answered' && id === worker);
    await send('take blue');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'it is blue' });
    expect(rig.store.runs(rig.sessionId, worker)).toHaveLength(1);
  },
  permission: async () => {
    await spawn('ask before it');
    const item = await personAt(rig).item(worker);
    const { body } = await personAt(rig).answer({
      ...{ worker_id: worker, choice: 1, prompt_hash: item.prompt_hash },
    });
    expect(body).toMatchObject({ answered: true, evidence: 'protocol' });
    expect(await ended()).toMatchObject({ state: 'done', summary: 'I was answered' });
  },
  cancel: async () => {
    await spawn('never end');
    await isAtWork();
    expect(await lead.ok('kill_worker', { worker_id: worker })).toMatchObject({ killed: true });
    expect(await ended()).toMatchObject({ state: 'killed' });
  },
  crash: async () => {
    await spawn('die of it');
    expect(await ended()).toMatchObject({ state: 'exited' });
  },
  resume: async () => {
    await spawn('die of it again');
    await ended();
    await send('go on now');
    expect(await ended()).toMatchObject({ state: 'done', summary: 'it is done after all' });
    expect(threads().size).toBe(1);
  },
};

/** Asking is what only some can; the others do the same work and are refused. */
async function playRefused(): Promise<void> {
  await spawn('ask before it');
  expect(await ended()).toMatchObject({ state: 'done', summary: 'I was answered' });
}

/** Plays every case in every place of these agents. */
export function playWith(...agents: readonly Place['agent'][]): void {
  const places = PLACES.filter(({ agent }) => agents.includes(agent));
  describe.each(places.map((place) => ({ name: placeName(place), place })))('$name', ({ place }) => {
    describe.each([false, true])('whose agents ask: %s', (asks) => {
      beforeAll(() => open(place, { asks }), 120_000);
      afterAll(() => rig.close(), 120_000);

      it.each(CASES.filter(({ name }) => (name === 'permission') === asks))('$name', async (one) => {
        const except = one.except?.(place);
        await (except === undefined ? PLAYS[one.name]?.() : playRefused());
        const kernel = () => kernelOf(rig.events(), worker);
        await expect.poll(kernel, { timeout: 20_000 }).toEqual(except?.kernel ?? one.kernel);
      });
    });
  });
}
