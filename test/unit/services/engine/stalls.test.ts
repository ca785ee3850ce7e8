import { afterEach, describe, expect, it } from 'vitest';
import { LEAD_ID } from '../../../../src/core/ids.js';
import { fact } from '../../../../src/services/engine/deps.js';
import { attention } from '../../../../src/services/supervise/attention.js';
import { EngineRig } from '../../../support/engine-rig.js';
import { SESSION } from '../../../support/sample-events.js';

const STALL_MS = 600_000;
const MINUTE = 60_000;

let rig: EngineRig;
afterEach(() => rig.close());

async function worker(workerId = 'w01', endsSilent = false): Promise<void> {
  rig = new EngineRig({ stallMs: STALL_MS, endsSilent });
  await rig.working(workerId);
}

const stalls = () => rig.count('run.stalled');
const moves = () =>
  rig
    .events()
    .filter((event) => event.type === 'run.moved')
    .map((event) => event.data.sign);
const listed = () =>
  attention(rig.store, SESSION, rig.clock.now()).map(({ worker_id, kind }) => `${worker_id} ${kind}`);
const output = (workerId = 'w01') => rig.backend.emit({ type: 'output', workerId });
async function pass(ms: number): Promise<void> {
  await rig.clock.advance(ms);
  await rig.calm();
}

describe('an agent at work that gives no sign', () => {
  it('is stalled after the stall time: the lead and the person are told since when, and its last line', async () => {
    await worker();
    rig.backend.screen = 'compiling\n  npm test  \n─────\n';
    const since = new Date(rig.clock.now()).toISOString();
    await pass(STALL_MS - 1);
    expect(stalls()).toBe(0);
    await pass(1);
    expect(rig.run('w01')).toMatchObject({
      state: 'running',
      stalled_since: since,
      stalled_line: 'npm test',
    });
    expect(rig.notices()).toEqual([
      expect.stringMatching(
        /^w01 \(implementer\) gives no sign for 10 min: no output.* Its last line: npm test It may/,
      ),
    ]);
    const [item] = attention(rig.store, SESSION, rig.clock.now());
    expect(item).toMatchObject({ worker_id: 'w01', kind: 'stalled', since, via: 'silence' });
    expect(item?.text).toContain('its last line: npm test');
  });

  it('is ended where its silence is not waited out, with what it told and its process interrupted', async () => {
    await worker('w01', true);
    await pass(STALL_MS - 1);
    expect(rig.run('w01').state).toBe('running');
    await pass(1);
    expect(rig.run('w01')).toMatchObject({
      state: 'timed_out',
      summary: 'its agent gave no sign for 10 min: no output, no call, no CPU time',
      evidence: 'silence',
    });
    expect(stalls()).toBe(1);
    expect(rig.backend.interrupted).toEqual(['w01']);
  });

  it('is told once, however long it is silent', async () => {
    await worker();
    await pass(5 * STALL_MS);
    expect([stalls(), rig.notices().length]).toEqual([1, 1]);
  });

  it('is found within one and a half stall times of its last sign, whenever that was', async () => {
    for (const at of [1_000, 4 * MINUTE, 9 * MINUTE + 59_000]) {
      await worker();
      await pass(at);
      output();
      await pass(STALL_MS - 1);
      expect(stalls()).toBe(0);
      await pass(STALL_MS / 2 + 1);
      expect(stalls()).toBe(1);
      if (at !== 9 * MINUTE + 59_000) await rig.close();
    }
  });

  it('moves again with its next output, and both are told so', async () => {
    await worker();
    await pass(STALL_MS);
    await pass(2 * MINUTE);
    output();
    await rig.calm();
    expect(moves()).toEqual(['output']);
    expect(rig.run('w01').stalled_since).toBeNull();
    expect(rig.notices().at(-1)).toBe('w01 (implementer) moves again after 12 min');
    expect(listed()).toEqual([]);
    await pass(2 * STALL_MS);
    expect(stalls()).toBe(2);
  });

  it('moves again with a hook, with a call of our tools, or with CPU time of its processes', async () => {
    await worker();
    await pass(STALL_MS);
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'x' });
    await pass(2 * STALL_MS);
    rig.engine.calling('w01')();
    await pass(2 * STALL_MS);
    rig.cpuMs = 100_000;
    await pass(STALL_MS / 2);
    expect(moves()).toEqual(['protocol', 'protocol', 'cpu']);
  });

  it('is not told of again by a supervisor that takes the session up; its next sign is', async () => {
    await worker();
    await pass(STALL_MS);
    rig.die();
    await rig.takeUp('w01');
    await pass(3 * STALL_MS);
    expect([stalls(), moves().length]).toEqual([1, 0]);
    output();
    expect(moves()).toEqual(['output']);
  });

  it('is told of by the supervisor that takes the session up in the middle of its silence', async () => {
    await worker();
    await pass(STALL_MS / 2);
    rig.die();
    await rig.takeUp('w01');
    await pass(STALL_MS);
    expect(stalls()).toBe(1);
  });

  it('is the lead: only the person is told', async () => {
    await worker(LEAD_ID);
    await pass(STALL_MS);
    expect(listed()).toEqual(['lead stalled']);
    expect(rig.notices()).toEqual([]);
  });
});

describe('no stall is', () => {
  it('work without output: a build that uses CPU time', async () => {
    await worker();
    for (let minute = 0; minute < 60; minute++) {
      rig.cpuMs = (rig.cpuMs ?? 0) + 5_000;
      await pass(MINUTE);
    }
    expect(stalls()).toBe(0);
  });

  it('a call of ours that has not been answered yet', async () => {
    await worker();
    const answered = rig.engine.calling('w01');
    await pass(3 * STALL_MS);
    expect(stalls()).toBe(0);
    answered();
    await pass(2 * STALL_MS);
    expect(stalls()).toBe(1);
  });

  it('an idle agent, one that waits for somebody, or one whose run is over', async () => {
    await worker();
    const dialog = { kind: 'permission', text: 'rm?', via: 'screen' } as const;
    rig.store.append(fact('worker.waiting', { ...rig.subject('w01'), evidence: 'screen' }, dialog));
    await pass(3 * STALL_MS);
    rig.store.append(fact('worker.working', rig.subject('w01'), {}));
    await rig.calm();
    rig.engine.report('w01', { state: 'succeeded', summary: 'done' }, 'protocol');
    await rig.endTurn('w01');
    const pending = rig.clock.pending();
    await pass(3 * STALL_MS);
    expect([stalls(), rig.worker('w01').state]).toEqual([0, 'idle']);
    // Nothing is looked at while nothing happens.
    expect(rig.clock.pending()).toBe(pending - 1);
  });

  it('looked for where it was switched off', async () => {
    rig = new EngineRig();
    await rig.working('w01');
    await pass(100 * STALL_MS);
    expect(stalls()).toBe(0);
  });
});

it('where CPU time cannot be measured, silence alone decides', async () => {
  await worker();
  rig.cpuMs = null;
  await pass(STALL_MS);
  expect(stalls()).toBe(1);
});
