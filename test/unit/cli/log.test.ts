import { describe, expect, it } from 'vitest';
import type { StoredEvent } from '../../../src/core/events/index.js';
import type { CliHost } from '../../../src/doors/cli/host.js';
import { eventLine } from '../../../src/doors/cli/output/event-line.js';
import { runProgram } from '../../../src/doors/cli/program.js';
import { createTail } from '../../../src/doors/cli/watch/follow-output.js';
import { SAMPLES } from '../../support/sample-events.js';
import { fakeHost, fakeTerminal } from './fake-host.js';

const STARTED: StoredEvent = {
  ...{ type: 'worker.started', session_id: '3f2a91bc', worker_id: 'w01', source: 'supervisor' },
  ...{ evidence: 'process', at: '2030-01-01T11:56:00Z', seq: 1, v: 1, data: SAMPLES['worker.started'] },
};
const started = (more: Partial<typeof STARTED>) => ({ ...STARTED, ...more }) as StoredEvent;

describe('what log says of a process', () => {
  const place = { ...SAMPLES['worker.started'], pane_id: '%3' };
  it.each([
    ['an agent in a pane', { data: place }, 'process started in pane %3'],
    ['a turn without a terminal', { data: place, run_id: 'r1' }, 'turn started, shown in pane %3'],
    ['a turn that no pane shows', { data: { ...place, pane_id: null }, run_id: 'r1' }, 'turn started'],
  ])('%s', (_, more, said) => expect(eventLine(started(more)).split('  ').at(-1)?.trim()).toBe(said));
});

/** What the terminal of w01 shows at each look; one event of w01, and of w02, between two looks. */
async function log(looks: readonly string[], ...flags: string[]) {
  const terminal = fakeTerminal();
  const asked: unknown[] = [];
  const left = [...looks];
  const host: Partial<CliHost> = {
    findSession: () => Promise.resolve('3f2a91bc'),
    settled: () => Promise.resolve(true),
    report: () => Promise.resolve({ state: 'done', workers: [{ worker_id: 'w01' }] } as never),
    call: (_, { name }, input) => {
      asked.push([name, input]);
      return Promise.resolve({ output: left.length > 1 ? left.shift() : left[0] });
    },
    async *events() {
      for (const _ of looks.slice(2))
        for (const worker_id of ['w02', 'w01']) {
          yield started({ worker_id });
          await new Promise((resolve) => setImmediate(resolve));
        }
    },
  };
  const code = await runProgram(fakeHost(terminal, host), ['log', '3f2a', ...flags]);
  return { code, asked, ...terminal.said };
}

describe('log --output', () => {
  it('prints what the terminal of a worker shows, without escape sequences', async () => {
    const { code, out, asked } = await log(['one\u001B[31m red\n  two\n\n\n'], '--worker', 'w01', '--output');
    expect([code, out]).toEqual([0, 'one red\n  two\n']);
    expect(asked).toEqual([['read_worker_output', { worker_id: 'w01', tail_lines: 2_000 }]]);
  });

  it('with -f prints what comes, once, when something happened to this worker; with --json a line each', async () => {
    const looks = ['one', 'one\ntwo', 'one\ntwo\nthree', 'two\nthree'];
    const { out, asked } = await log(looks, '--worker', 'w01', '--output', '-f');
    expect(out).toBe('one\ntwo\nthree\n');
    expect(asked).toHaveLength(looks.length);
    const json = (await log(looks, '--worker', 'w01', '--output', '-f', '--json')).out.trim().split('\n');
    expect(json.map((line) => JSON.parse(line) as unknown)).toEqual(
      ['one', 'two', 'three'].map((line) => ({ worker_id: 'w01', line })),
    );
  });

  it('says so when there is nothing', async () => {
    expect(await log([''], '--worker', 'w01', '--output')).toMatchObject({
      ...{ code: 0, out: '', err: 'w01 has shown nothing, or nothing of it is kept\n' },
    });
  });

  it('asks whose', async () => {
    const { code, err } = await log([''], '--output');
    expect(code).toBe(64);
    expect(err).toContain('hint: say whose: agentorchestr log --worker w01 --output');
  });
});

describe('what a text has more than before', () => {
  const news = (...texts: string[]) => {
    const tail = createTail();
    return texts.map((text) => tail.news(text.split(' ')).join(' '));
  };
  it.each([
    [
      ['a b', 'a b c'],
      ['a b', 'c'],
    ],
    [
      ['a b c', 'b c d'],
      ['a b c', 'd'],
    ],
    [
      ['a b c', 'b c'],
      ['a b c', ''],
    ],
    [
      ['a a a', 'a a a a'],
      ['a a a', 'a'],
    ],
    [
      ['a b prompt', 'a b c prompt'],
      ['a b prompt', 'c prompt'],
    ],
    [
      ['a b', 'x y'],
      ['a b', 'x y'],
    ],
  ])('%j gives %j', (texts, said) => expect(news(...texts)).toEqual(said));
});
