import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { ownIdentity } from '../../../src/platform/identity.js';
import { HeadlessRig, type HeadlessRigOptions } from '../../support/headless-rig.js';
import { SESSION } from '../../support/sample-events.js';

const SCRIPT = `
name: pools
workers:
  - match: until (?<file>\\S+)
    steps:
      - say: waiting
      - run: "until test -e {{file}}; do sleep 0.05; done"
      - say: "saw {{file}}"
  - match: make (?<file>\\S+)
    steps: [{ run: "touch {{file}}" }, { say: "made {{file}}" }]
  - contains: hang
    steps: [{ say: hanging }, { silence: true }]
  - contains: stubborn
    steps: [{ ignore_signals: true }, { fork: 2 }, { say: stubborn }, { silence: true }]
  - name: breaks
    contains: break once
    times: 1
    steps: [{ say: breaking }, { crash: 9 }]
  - contains: break once
    steps: [{ say: whole }]
  - contains: process ended before your turn
    steps: [{ say: went on }]
  - contains: leave something
    steps: [{ fork: 2 }, { say: left }]
  - contains: "not there any more"
    steps: [{ say: "I was told" }]
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
`;

let rig: HeadlessRig;
const create = (options: Partial<HeadlessRigOptions> = {}) =>
  (rig = new HeadlessRig({ script: SCRIPT, ...options }));
afterEach(() => rig.close());

const file = (name: string) => join(rig.folder, name);
const started = (workerId: string) => rig.types(workerId).includes('message.started');
const said = (workerId: string, text: string) =>
  rig.until(`"${text}" of ${workerId}`, () =>
    rig.events(workerId).some(({ type, data }) => type === 'text.completed' && data.text === text),
  );

describe('a pool', () => {
  it('of one runs one turn after the other, in the order they came', async () => {
    create({ slots: 1 });
    const runs = ['w01', 'w02', 'w03'].map((id) => rig.spawn(id, `say ${id}`));
    await Promise.all(runs.map((run) => rig.over(run)));
    const order = rig
      .events()
      .flatMap((event) =>
        ['run.started', 'run.attempt_ended'].includes(event.type) ? [`${event.worker_id} ${event.type}`] : [],
      );
    await rig.until('the last end', () => rig.types('w03').includes('run.attempt_ended'));
    expect(order.slice(0, 5)).toEqual([
      'w01 run.started',
      'w01 run.attempt_ended',
      'w02 run.started',
      'w02 run.attempt_ended',
      'w03 run.started',
    ]);
  });

  it('of one never deadlocks: what a running turn waits for begins beyond it, its grandchildren too', async () => {
    create({ slots: 1 });
    const parent = rig.spawn('w01', `until ${file('child')}`);
    await rig.until('the parent', () => started('w01'));
    const stranger = rig.spawn('w09', 'say stranger');
    const child = rig.spawn('w02', `until ${file('grandchild')}`, { parentRunId: parent.runId });
    const sibling = rig.spawn('w04', 'say sibling', { parentRunId: parent.runId });
    await rig.until('the child', () => started('w02'));
    const grandchild = rig.spawn('w03', `make ${file('grandchild')}`, { parentRunId: child.runId });
    await rig.over(grandchild);
    await rig.over(child);
    expect(rig.types('w09')).not.toContain('run.started');
    writeFileSync(file('child'), '');
    await Promise.all([parent, sibling, stranger].map((run) => rig.over(run)));
    expect([parent, child, grandchild, sibling, stranger].map((run) => rig.run(run).state)).toEqual(
      Array(5).fill('succeeded'),
    );
  });

  it('that drains lets what runs end, begins nothing, and keeps what waits', async () => {
    create({ slots: 1 });
    const runs = rig.spawn('w01', `until ${file('go')}`);
    const waits = rig.spawn('w02', 'say later');
    await rig.until('the first', () => started('w01'));
    const drained = rig.deps.slots.drain();
    writeFileSync(file('go'), '');
    await drained;
    await rig.over(runs);
    expect(rig.run(waits).state).toBe('queued');
    rig.die();
    await rig.takeUp();
    await rig.over(waits);
    expect(rig.run(waits).state).toBe('succeeded');
  });
});

describe('a run', () => {
  it('that takes longer than it may is timed out, and its processes are gone', async () => {
    create();
    const run = rig.spawn('w01', 'stubborn', { timeoutMs: 10_000 });
    await said('w01', 'stubborn');
    await rig.over(run);
    expect(rig.run(run)).toMatchObject({ state: 'timed_out', evidence: 'process' });
    await rig.until('the end of its process', () => rig.types('w01').includes('run.attempt_ended'));
    expect(await rig.leftovers()).toBe(0);
    expect(rig.worker('w01').state).toBe('idle');
  });

  it('that is cancelled ends with its processes, and what it asked for is cancelled with it', async () => {
    create({ slots: 2 });
    const parent = rig.spawn('w01', 'hang');
    await said('w01', 'hanging');
    const child = rig.spawn('w02', 'hang', { parentRunId: parent.runId });
    await said('w02', 'hanging');
    const queued = rig.send('w02', 'say never', { parentRunId: parent.runId });
    await rig.engine.cancel(parent.runId, { by: 'person', reason: 'not wanted' });
    await Promise.all([parent, child, queued].map((run) => rig.over(run)));
    expect([parent, child, queued].map((run) => rig.run(run).state)).toEqual(Array(3).fill('cancelled'));
    expect(await rig.leftovers()).toBe(0);
    expect(rig.store.message(queued.messageId)?.state).toBe('refused');
    const next = rig.send('w01', 'say after');
    await rig.over(next);
    expect(rig.run(next).summary).toBe('I say after');
  });

  it('that is cancelled while its process is being made ends with it', async () => {
    create();
    let cancelled = Promise.resolve();
    rig.store.subscribe(rig.store.head(), ({ type, run_id: runId = '' }) => {
      if (type === 'run.started') cancelled = rig.engine.cancel(runId, { by: 'person', reason: 'at once' });
    });
    const run = rig.spawn('w01', 'hang');
    await rig.over(run);
    await cancelled;
    expect(rig.run(run).state).toBe('cancelled');
    await rig.until('its end', () => rig.types('w01').includes('run.attempt_ended'));
    expect(await rig.leftovers()).toBe(0);
  });

  it('goes on in another attempt, in its conversation, as often as it may', async () => {
    create();
    const run = rig.spawn('w01', 'break once', { retries: 1 });
    await rig.over(run);
    expect(rig.run(run)).toMatchObject({ state: 'succeeded', attempts: 2, failed_attempts: 1 });
    const [, second] = rig.prompts('w01');
    expect(second).toMatch(/process ended before your turn/);
    expect(rig.types('w01').filter((type) => type === 'thread.opened')).toHaveLength(1);
  });

  it('fails with its first attempt where no retry was asked for', async () => {
    create();
    const run = rig.spawn('w01', 'break once');
    await rig.over(run);
    expect(rig.run(run)).toMatchObject({ state: 'failed', attempts: 1 });
  });

  it('begins its conversation anew, once and with what was said, when the agent does not know it any more', async () => {
    create();
    await rig.over(rig.spawn('w01', 'say first'));
    await rig.until('its end', () => rig.types('w01').includes('run.attempt_ended'));
    const folder = join(rig.deps.workerDirectory('w01'), 'conversations');
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    const next = rig.send('w01', 'say second');
    await rig.over(next);
    expect(rig.run(next)).toMatchObject({ state: 'succeeded', summary: 'I was told' });
    expect(rig.prompts('w01').at(-1)).toMatch(
      /\[instruction\]\nsay first\n\[answer\]\nI say first[^]*say second$/,
    );
    expect(rig.types('w01')).toContain('thread.lost');
  });

  it('does not begin anew when somebody else is at its conversation', async () => {
    create();
    await rig.over(rig.spawn('w01', 'say first'));
    await rig.until('its end', () => rig.types('w01').includes('run.attempt_ended'));
    const folder = join(rig.deps.workerDirectory('w01'), 'conversations');
    writeFileSync(join(folder, `${rig.worker('w01').thread_id}.pid`), JSON.stringify(ownIdentity()));
    const next = rig.send('w01', 'say second');
    await rig.over(next);
    expect(rig.run(next)).toMatchObject({ state: 'failed', failure_code: 'THREAD_IN_USE' });
    expect(rig.types('w01')).not.toContain('thread.lost');
  });

  it('without a sign of its agent is told as stalled, once, and goes on', async () => {
    create({ stallMs: 700 });
    const run = rig.spawn('w01', 'hang');
    await said('w01', 'hanging');
    // On a busy machine its start may be a silence of its own.
    const stalls = () => {
      const types = rig.types('w01');
      return types.slice(types.lastIndexOf('text.completed')).filter((type) => type === 'run.stalled').length;
    };
    await rig.until('the silence', () => stalls() > 0);
    expect(rig.run(run).state).toBe('running');
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    expect(stalls()).toBe(1);
  });

  it('leaves nothing running that its agent started, in whatever session', async () => {
    create();
    await rig.over(rig.spawn('w01', 'leave something'));
    await rig.until('its end', () => rig.types('w01').includes('run.attempt_ended'));
    expect(await rig.leftovers()).toBe(0);
  });
});

describe('whoever drives dies', () => {
  const states = [
    ['message.queued', 'nothing was started'],
    ['run.started', 'its attempt is on record, its process perhaps not there'],
    ['worker.started', 'its process runs'],
    ['message.typed', 'its text is on its way'],
    ['message.started', 'it is in its turn'],
    ['text.completed', 'it has said something'],
    ['message.answered', 'its turn is over'],
    ['run.succeeded', 'its run is over'],
  ] as const;

  it.each(states)(
    'at %s (%s): no message is lost, nothing is done twice, no process is left',
    async (type) => {
      create({ slots: 1 });
      let died = false;
      rig.store.subscribe(rig.store.head(), (event) => {
        if (!died && event.type === type) {
          died = true;
          rig.die();
        }
      });
      const first = rig.spawn('w01', `make ${file('once')}`);
      const second = rig.send('w01', 'say second');
      await rig.until('the death', () => died);
      await rig.takeUp();
      await rig.over(first);
      await rig.over(second);
      expect([first, second].map((run) => rig.run(run).state)).toEqual(['succeeded', 'succeeded']);
      expect(existsSync(file('once'))).toBe(true);
      const taken = rig.events('w01').filter((event) => event.type === 'message.submitted');
      expect(taken).toHaveLength(2);
      expect(rig.events('w01').filter((event) => event.type === 'text.completed')).toHaveLength(2);
      await rig.until('the last end', () =>
        rig.store.attempts(SESSION).every(({ state }) => state === 'ended'),
      );
      expect(await rig.leftovers()).toBe(0);
      expect(rig.store.verifyRebuild()).toEqual([]);
    },
  );
});
