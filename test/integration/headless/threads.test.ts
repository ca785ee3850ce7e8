import { afterEach, describe, expect, it } from 'vitest';
import { fact } from '../../../src/services/engine/deps.js';
import { HeadlessRig } from '../../support/headless-rig.js';
import { SESSION } from '../../support/sample-events.js';

const SCRIPT = `
name: threads
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - contains: hang
    steps: [{ say: I am at it }, { silence: true }]
  - contains: at once
    steps: [{ fail: not logged in }]
  - contains: half way
    steps: [{ say: I began }, { fail: out of breath }]
`;

let rig: HeadlessRig;
afterEach(() => rig.close());

describe.each(['stream-json', 'thread-jsonl'] as const)('a conversation (%s)', (format) => {
  it('has one writer: another worker that is to go on with it is refused while its process lives, and may then', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    const first = rig.spawn('w01', 'hang');
    await rig.until('its word', () => rig.types('w01').includes('text.completed'));
    const thread_id = rig.worker('w01').thread_id ?? '';
    await rig.over(rig.spawn('w02', 'say mine'));
    const subject = {
      ...{ session_id: SESSION, worker_id: 'w02' },
      ...({ source: 'hook', evidence: 'protocol' } as const),
    };
    rig.store.append(fact('thread.opened', subject, { thread_id }));
    const second = rig.send('w02', 'say two');
    await rig.over(second);
    expect(rig.run(second)).toMatchObject({ state: 'failed', attempts: 0 });
    expect(rig.run(second).summary).toMatch(/in use by worker w01 of session/);
    await rig.engine.cancel(first.runId, { by: 'person', reason: 'enough' });
    await rig.until('the end of the process', () => rig.types('w01').includes('run.attempt_ended'));
    const third = rig.send('w02', 'say three');
    await rig.over(third);
    expect(rig.run(third)).toMatchObject({ state: 'succeeded' });
  });
});

describe.each(['stream-json', 'thread-jsonl'] as const)('a worker that stands in (%s)', (format) => {
  it('gets what another failed at before it had said anything, once', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    await rig.over(rig.spawn('w02', 'say ready'));
    const first = rig.spawn('w01', 'at once', { fallbacks: ['w02'] });
    await rig.over(first);
    expect(rig.run(first)).toMatchObject({ state: 'failed', summary: 'not logged in' });
    const [, second] = rig.store.runs(SESSION, 'w02');
    expect(second).toMatchObject({ retry_of: first.runId, fallbacks: [] });
    // Nobody stands in for the last one: a person has to log in.
    await rig.until('its wait', () => rig.store.run(second?.run_id ?? '')?.state === 'waiting');
    expect(rig.store.runs(SESSION, 'w02')).toHaveLength(2);
    expect(rig.prompts('w02').at(-1)).toBe('at once');
  });

  it('gets nothing of what another has begun', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    await rig.over(rig.spawn('w02', 'say ready'));
    const first = rig.spawn('w01', 'half way', { fallbacks: ['w02'] });
    await rig.over(first);
    expect(rig.run(first)).toMatchObject({ state: 'failed', summary: 'out of breath' });
    expect(rig.store.runs(SESSION, 'w02')).toHaveLength(1);
  });

  it('gets it where the agent cannot be started at all', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format, broken: 'w01' });
    await rig.over(rig.spawn('w02', 'say ready'));
    const first = rig.spawn('w01', 'say instead', { fallbacks: ['w02'] });
    await rig.over(first);
    expect(rig.run(first)).toMatchObject({ state: 'failed' });
    const [, second] = rig.store.runs(SESSION, 'w02');
    await rig.over({ runId: second?.run_id ?? '' });
    expect(rig.store.run(second?.run_id ?? '')).toMatchObject({
      state: 'succeeded',
      summary: 'I say instead',
    });
  });
});
