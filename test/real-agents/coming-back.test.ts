import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bash, call, killsItself, program, say } from '../support/mock-llm/program.js';
import { says } from '../support/mock-llm/reply.js';
import { RealRig } from '../support/real-agents/rig.js';

let rig: RealRig;
afterEach(() => rig.close(), 120_000);

const RULES = [
  program('colour', says('what colour'), function* () {
    yield bash('echo blue > colour.txt && git add -A && git commit -qm colour');
    yield call('report_done', { summary: 'it is blue' });
    yield say('Blue.');
  }),
  program('dies', says('die of it'), function* () {
    yield killsItself();
    yield say('I live.');
  }),
];

describe.each([
  ['claude', '.claude/projects'],
  ['codex', '.codex/sessions'],
] as const)('%s that died in its pane', (agent, conversations) => {
  it('and does not know its conversation any more begins a new one, once, with what was said in it', async () => {
    rig = await RealRig.create({ rules: RULES });
    const lead = await rig.startWorkersOf(agent);
    await lead.ok('spawn_worker', { task: 'die of it' });
    await lead.ok('wait_for_worker', { worker_id: 'w01', timeout_s: 90 });
    rmSync(join(rig.world.sandbox.home, conversations), { recursive: true });
    await lead.ok('send_to_worker', { worker_id: 'w01', message: 'what colour is it?' });
    expect(await lead.ok('wait_for_worker', { worker_id: 'w01', timeout_s: 90 })).toMatchObject({
      state: 'done',
      summary: 'it is blue',
    });
    const types = rig.types('w01');
    expect(types.filter((type) => type === 'thread.lost')).toHaveLength(1);
    expect(types.filter((type) => type === 'thread.opened')).toHaveLength(2);
    expect(rig.llm.prompts().at(-1)).toMatch(
      /<conversation>[^]*die of it[^]*<\/conversation>[^]*what colour is it\?/,
    );
  });
});

describe.each(['claude', 'codex'])('%s that came up while there was no supervisor', (agent) => {
  it('is started anew before anything is said to it, so that it has its tools', async () => {
    rig = await RealRig.create({ rules: RULES });
    const lead = await rig.startWorkersOf(agent);
    const started = rig.event(
      'the process',
      ({ type, worker_id: id }) => type === 'worker.started' && id === 'w01',
    );
    void lead.call('spawn_worker', { task: 'what colour is it?' }).catch(() => undefined);
    await started;
    await rig.crash();
    // Its client has given up by then.
    await new Promise((resolve) => setTimeout(resolve, 5_000));
    await rig.takeUp();
    const again = await rig.lead();
    expect(await again.ok('wait_for_worker', { worker_id: 'w01', timeout_s: 120 })).toMatchObject({
      state: 'done',
      summary: 'it is blue',
    });
    expect(rig.llm.prompts().filter((prompt) => prompt.includes('what colour'))).toHaveLength(1);
  });
});
