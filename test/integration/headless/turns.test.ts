import { rmSync } from 'node:fs';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { BackendEvent } from '../../../src/backends/contract.js';
import { HeadlessRig } from '../../support/headless-rig.js';

const SCRIPT = `
name: turns
workers:
  - match: say (?<what>\\w+)
    steps:
      - say: "I say {{what}}"
  - contains: work
    steps:
      - run: echo done > made.txt && cat made.txt
      - say: made it
  - contains: break
    steps:
      - say: about to break
      - crash: 9
  - contains: fail
    steps:
      - fail: no such thing
`;

let rig: HeadlessRig;
afterEach(() => rig.close());

describe.each(['stream-json', 'thread-jsonl'] as const)('a turn without a terminal (%s)', (format) => {
  it('is one process: its text on standard input, its answer the outcome of the run', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    const first = rig.spawn('w01', 'say hello');
    await rig.over(first);
    expect(rig.run(first)).toMatchObject({
      state: 'succeeded',
      summary: 'I say hello',
      evidence: 'protocol',
    });
    expect(rig.prompts('w01')).toEqual(['say hello']);
    await rig.until('its end', () => rig.types('w01').includes('run.attempt_ended'));
    expect(rig.worker('w01')).toMatchObject({ state: 'idle' });
    expect(await rig.leftovers()).toBe(0);
  });

  it('goes on in the same conversation with the next', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    const first = rig.spawn('w01', 'say one');
    const second = rig.send('w01', 'say two');
    await rig.over(second);
    expect(rig.run(first).summary).toBe('I say one');
    expect(rig.run(second).summary).toBe('I say two');
    expect(rig.types('w01').filter((type) => type === 'thread.opened')).toHaveLength(1);
    expect(rig.prompts('w01')).toEqual(['say one', 'say two']);
  });

  it('tells what is said and done, each once', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    await rig.over(rig.spawn('w01', 'work'));
    const told = rig.events('w01').filter(({ source }) => source === 'headless');
    expect(told.flatMap(({ type, data }) => (type === 'tool.returned' ? [data.output.trim()] : []))).toEqual([
      'done',
    ]);
    expect(told.flatMap(({ type, data }) => (type === 'text.completed' ? [data.text] : []))).toEqual([
      'made it',
    ]);
    expect(told.filter(({ type }) => type === 'usage.reported')).toHaveLength(1);
    expect(await rig.deps.backend.read('w01', 20)).toContain('made it');
  });

  it('that breaks off is no success, and says with what it ended', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    const run = rig.spawn('w01', 'break');
    await rig.over(run);
    expect(rig.run(run)).toMatchObject({
      ...{ state: 'failed', failure_code: 'AGENT_EXITED' },
      summary: 'its process ended with status 9',
    });
    expect(rig.worker('w01')).toMatchObject({ state: 'exited', exit_status: 9 });
  });

  it('brings a worker whose process broke off back with the next instruction', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    await rig.over(rig.spawn('w01', 'break'));
    const next = rig.send('w01', 'say again');
    await rig.over(next);
    expect(rig.run(next)).toMatchObject({ state: 'succeeded', summary: 'I say again' });
  });

  it('that cannot begin refuses its text, and says why', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    await rig.over(rig.spawn('w01', 'say one'));
    rmSync(rig.worker('w01').worktree, { recursive: true });
    const next = rig.send('w01', 'say two');
    await rig.over(next);
    expect(rig.store.message(next.messageId)).toMatchObject({
      state: 'refused',
      detail: expect.stringContaining('working directory'),
    });
    expect(rig.run(next)).toMatchObject({ state: 'failed' });
  });

  it('that failed is told as what the agent said of it', async () => {
    rig = new HeadlessRig({ script: SCRIPT, format });
    const run = rig.spawn('w01', 'fail');
    await rig.until('the failure', () => rig.run(run).state !== 'queued' && rig.run(run).state !== 'running');
    expect(rig.run(run)).toMatchObject({ state: 'failed', summary: 'no such thing' });
  });
});

describe('a turn that an earlier supervisor began', () => {
  it('says nothing before it is followed, though it is over by then', async () => {
    rig = new HeadlessRig({ script: SCRIPT });
    rig.store.subscribe(rig.store.head(), ({ type }) => {
      if (type === 'message.typed') rig.die();
    });
    rig.spawn('w01', 'say hello');
    await rig.until('the death', () => rig.types('w01').includes('message.typed'));
    await vi.waitFor(async () => expect(await rig.leftovers()).toBe(0), 10_000);
    const { backend, turn } = rig.deps;
    const heard: BackendEvent[] = [];
    backend.onEvent((event) => void heard.push(event));
    const make = turn(rig.worker('w01'));
    const adopted = await backend.adoptTurn(await make!(rig.attemptsOf('w01')[0] ?? ''));
    // What it wrote and its end are found within a few milliseconds; whoever takes over may need longer than that.
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(heard).toEqual([]);
    adopted?.follow();
    await rig.until('its end', () => heard.some(({ type }) => type === 'turn_over'));
    const said = heard.flatMap((event) => (event.type === 'said' ? event.said.map((one) => one.said) : []));
    expect(said.filter((what) => what === 'turn_ended')).toHaveLength(1);
    expect(heard.at(-1)).toMatchObject({ type: 'turn_over', status: 0 });
  });
});
