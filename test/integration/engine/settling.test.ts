import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { FAKE_START } from '../../support/fake-clock.js';
import { EngineRig } from '../../support/engine-rig.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

const report = (
  state: 'succeeded' | 'blocked' | 'failed',
  summary: string,
  evidence: 'protocol' | 'flag' | 'sentinel' = 'protocol',
) => rig.engine.report('w01', { state, summary }, evidence);

const sentinels = (
  ...lines: [word: 'done' | 'blocked' | 'failed', nonce: string | null, summary: string][]
) =>
  rig.backend.emit({
    type: 'sentinels',
    workerId: 'w01',
    sentinels: lines.map(([word, nonce, summary]) => ({
      word,
      nonce,
      summary,
      line: `WORKER_${word.toUpperCase()}${nonce === null ? '' : `[${nonce}]`}: ${summary}`,
    })),
  });

describe('a report', () => {
  it('is a candidate until its turn ends', async () => {
    await rig.working('w01');
    expect(report('succeeded', 'written')).toBe(true);
    expect(rig.run('w01')).toMatchObject({
      state: 'running',
      reported: [
        {
          state: 'succeeded',
          summary: 'written',
          evidence: 'protocol',
          at: new Date(FAKE_START).toISOString(),
        },
      ],
    });
    await rig.endTurn('w01');
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'written', evidence: 'protocol' });
  });

  it('through the tool settles at the very end of its turn; one that came another way waits for a better one', async () => {
    for (const [workerId, evidence] of [['w01', 'protocol'] as const, ['w02', 'flag'] as const]) {
      await rig.working(workerId);
      rig.engine.report(workerId, { state: 'succeeded', summary: 'written' }, evidence);
      const answer = rig.hook(workerId, { fact: 'turn_ended', text: '' });
      await rig.calm();
      expect(rig.run(workerId).state).toBe(evidence === 'protocol' ? 'succeeded' : 'running');
      await rig.clock.advance(250);
      expect(await answer).toBe(null);
      expect(rig.run(workerId).state).toBe('succeeded');
    }
  });

  it('settles a second after it came when its turn goes on', async () => {
    await rig.working('w01');
    report('succeeded', 'written');
    await rig.clock.advance(999);
    expect(rig.run('w01').state).toBe('running');
    await rig.clock.advance(1);
    expect(rig.run('w01')).toMatchObject({
      state: 'succeeded',
      ended_at: new Date(FAKE_START + 1_000).toISOString(),
    });
  });

  it('is not put off by later ones: the second counts from the first', async () => {
    await rig.working('w01');
    report('blocked', 'no network', 'sentinel');
    await rig.clock.advance(800);
    report('succeeded', 'network is back', 'sentinel');
    await rig.clock.advance(200);
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'network is back' });
  });

  it('of weaker evidence that disagrees is recorded and loses, even when it comes later', async () => {
    await rig.working('w01');
    report('succeeded', 'said through MCP');
    report('failed', 'said by flag', 'flag');
    sentinels(['blocked', null, 'said on the screen']);
    await rig.endTurn('w01');
    const { reported, state, summary, evidence } = rig.run('w01');
    expect(reported.map((candidate) => [candidate.state, candidate.evidence])).toEqual([
      ['succeeded', 'protocol'],
      ['failed', 'flag'],
      ['blocked', 'sentinel'],
    ]);
    expect({ state, summary, evidence }).toEqual({
      state: 'succeeded',
      summary: 'said through MCP',
      evidence: 'protocol',
    });
  });

  it('that says the same again is no second candidate', async () => {
    await rig.working('w01');
    for (let time = 0; time < 3; time++) expect(report('succeeded', 'written', 'flag')).toBe(true);
    expect(rig.count('run.reported')).toBe(1);
  });

  it('of failure ends the run as failed, by its own word', async () => {
    await rig.working('w01');
    sentinels(['failed', rig.run('w01').nonce, 'tests do not pass']);
    await rig.endTurn('w01');
    expect(rig.run('w01')).toMatchObject({
      state: 'failed',
      summary: 'tests do not pass',
      evidence: 'sentinel',
      failure_code: 'REPORTED',
    });
    expect(rig.notices()).toEqual(['w01 (implementer) reports failure: tests do not pass']);
  });

  it('after the run is over finds nothing to report on', async () => {
    await rig.working('w01');
    report('succeeded', 'written');
    await rig.endTurn('w01');
    expect(report('failed', 'no, wait')).toBe(false);
    expect(rig.run('w01').state).toBe('succeeded');
    expect(rig.notices()).toEqual(['w01 (implementer) reports done: written']);
  });

  it('does not count any more once a new instruction is accepted for the same run', async () => {
    await rig.working('w01');
    rig.engine.ask('w01', 'red or blue?');
    report('succeeded', 'took red');
    rig.instruct('w01', 'blue');
    await rig.clock.advance(1_000);
    expect(rig.run('w01')).toMatchObject({ state: 'running', reported: [] });
  });

  it('while its instruction stands in the composer proves that it was taken', async () => {
    await rig.working('w01');
    report('succeeded', 'one');
    await rig.endTurn('w01');
    rig.instruct('w01', 'second');
    await rig.until('the second text', () => rig.backend.isSending('w01'));
    const second = rig.backend.sending('w01');
    second.typed();
    expect(report('succeeded', 'two')).toBe(true);
    await rig.calm();
    expect(second.outcome).toEqual({
      outcome: 'submitted',
      evidence: 'protocol',
      how: 'the agent reported on it',
    });
    await rig.endTurn('w01');
    expect(rig.run('w01')).toMatchObject({ number: 2, state: 'succeeded', summary: 'two' });
    expect(rig.receipts('w01').at(-1)).toEqual(['follow_up', 'answered']);
  });
});

describe('a flag file', () => {
  it('is taken the moment it is written, in the private folder', async () => {
    await rig.working('w01');
    writeFileSync(join(rig.folder, 'w01', 'done.flag'), 'BLOCKED\n no network \n');
    await rig.until('the report', () => rig.run('w01').reported.length > 0);
    expect(rig.run('w01').reported).toMatchObject([
      { state: 'blocked', summary: 'no network', evidence: 'flag' },
    ]);
  });
});

describe('sentinel lines', () => {
  it('count for the run they name, and an echo of another one does not', async () => {
    await rig.working('w01');
    sentinels(['done', 'another-run', 'old screen']);
    expect(rig.run('w01').reported).toEqual([]);
    sentinels(['done', rig.run('w01').nonce, 'this run']);
    expect(rig.run('w01').reported).toMatchObject([{ summary: 'this run', evidence: 'sentinel' }]);
  });

  it('without a name count unless that very line was in what was sent', async () => {
    await rig.working('w01', 'End with "WORKER_DONE: all good" when you are finished.');
    sentinels(['done', null, 'all good']);
    expect(rig.run('w01').reported).toEqual([]);
    sentinels(['done', null, 'all good but one']);
    expect(rig.run('w01').reported).toMatchObject([{ summary: 'all good but one' }]);
  });

  it('of an agent that was quicker than the proof count for what it had just taken', async () => {
    await rig.close();
    rig = new EngineRig({ hooks: null });
    await rig.working('w01');
    report('succeeded', 'one');
    await rig.clock.advance(1_000);
    rig.backend.state('w01', 'idle');
    await rig.clock.advance(500);
    rig.instruct('w01', 'second');
    await rig.until('the second text', () => rig.backend.isSending('w01'));
    sentinels(['done', null, 'still of the first']);
    rig.backend.sending('w01').typed();
    sentinels(['done', null, 'two']);
    expect(rig.run('w01').reported).toEqual([]);
    rig.backend.sending('w01').submitted();
    await rig.calm();
    expect(rig.run('w01').reported).toMatchObject([{ summary: 'two', evidence: 'sentinel' }]);
  });

  it('mean nothing for a worker without an open run, or one that is not there', async () => {
    await rig.working('w01');
    report('succeeded', 'one');
    await rig.endTurn('w01');
    const before = rig.store.head();
    sentinels(['failed', null, 'late']);
    rig.backend.emit({ type: 'sentinels', workerId: 'w44', sentinels: [] });
    expect(rig.store.head()).toBe(before);
  });
});
