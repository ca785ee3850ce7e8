import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { PastAgent } from '../../../src/backends/contract.js';
import { LEAD_ID } from '../../../src/core/ids.js';
import { EngineRig } from '../../support/engine-rig.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

const prompt = (content: string) => ({ type: 'user', message: { role: 'user', content } });
const answer = (text: string) => ({ type: 'assistant', message: { content: [{ type: 'text', text }] } });

/** The supervisor died after the text was typed, and before anything proved that it was taken. */
async function typedAndDead(): Promise<void> {
  await rig.start('w01');
  rig.backend.sending('w01').typed();
  await rig.calm();
}

function flag(workerId: string, text: string): void {
  const folder = rig.deps.workerDirectory(workerId);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'done.flag'), text);
}

describe('a message that was typed when the supervisor died', () => {
  it('is submitted by the evidence of the transcript that has it, and not sent again', async () => {
    await typedAndDead();
    rig.transcript('w01', prompt('task of w01'));
    rig.die();
    await rig.takeUp('w01');
    expect(rig.messages('w01')).toMatchObject([
      { state: 'started', evidence: 'transcript', detail: expect.stringContaining('transcript') as string },
    ]);
    expect([rig.run('w01').state, rig.worker('w01').state]).toEqual(['running', 'working']);
    expect(rig.backend.sendings).toEqual([]);
  });

  it('is looked for by the backend where no transcript has it', async () => {
    await typedAndDead();
    rig.transcript('w01', prompt('something else'), answer('ok'));
    rig.die();
    await rig.takeUp('w01');
    const sending = rig.backend.sending('w01');
    const earlier = { state: 'typed', takenBefore: 0 };
    expect([sending.text, sending.options.earlier]).toEqual(['task of w01', earlier]);
    flag('w01', 'done\nflagged');
    sending.submitted('the screen shows it');
    await rig.calm();
    rig.backend.state('w01', 'idle');
    await rig.clock.advance(1_000);
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'flagged', evidence: 'flag' });
  });

  it('is submitted by the evidence of the flag that was put up since', async () => {
    await typedAndDead();
    flag('w01', 'done\nflagged');
    rig.die();
    await rig.takeUp('w01');
    expect(rig.messages('w01')).toMatchObject([{ state: 'started', evidence: 'flag' }]);
    expect(rig.backend.sendings).toEqual([]);
    await rig.clock.advance(1_000);
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'flagged', evidence: 'flag' });
  });

  it('is unconfirmed with the screen where nothing proves it; the word of the agent still does', async () => {
    await typedAndDead();
    rig.die();
    await rig.takeUp('w01');
    rig.backend.sending('w01').unconfirmed('> an empty screen');
    await rig.calm();
    expect(rig.receipts('w01')).toEqual([['task', 'unconfirmed']]);
    rig.die();
    await rig.takeUp('w01');
    expect(rig.backend.sendings).toEqual([]);
    rig.engine.report('w01', { state: 'succeeded', summary: 'did it' }, 'protocol');
    expect(rig.receipts('w01')).toEqual([['task', 'started']]);
  });

  it('that was sent before in the same words needs to be in the transcript once more', async () => {
    await rig.working('w01', 'again');
    rig.transcript('w01', prompt('again'), answer('ok'));
    await rig.endTurn('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'once' }, 'protocol');
    await rig.clock.advance(1_000);
    rig.instruct('w01', 'again');
    await rig.until('it is on its way', () => rig.backend.isSending('w01'));
    rig.backend.sending('w01').typed();
    await rig.calm();
    rig.die();
    await rig.takeUp('w01');
    expect(rig.backend.sending('w01').options.earlier).toEqual({ state: 'typed', takenBefore: 1 });
    rig.transcript('w01', prompt('again'));
    rig.die();
    await rig.takeUp('w01');
    expect(rig.backend.sendings).toEqual([]);
    expect(rig.messages('w01').findLast(({ kind }) => kind === 'follow_up')?.state).toBe('started');
  });
});

describe('messages that were not typed yet', () => {
  it('are delivered, the first of them in the knowledge that it may stand in the composer', async () => {
    await rig.start('w01');
    rig.die();
    rig.instruct('w01', 'and this');
    rig.engine.attach(rig.worker('w01'), { takenOver: true });
    await rig.calm();
    expect(rig.backend.sendings).toEqual([]);
    await rig.settledBy(rig.engine.takeUp('w01'));
    expect(rig.backend.sending('w01').options.earlier).toEqual({ state: 'perhaps', takenBefore: 0 });
    await rig.take('w01');
    expect(rig.receipts('w01')[0]).toEqual(['task', 'started']);
    rig.engine.report('w01', { state: 'succeeded', summary: 'first' }, 'protocol');
    await rig.clock.advance(1_000);
    await rig.until('the next', () => rig.backend.isSending('w01'));
    expect(rig.backend.sending('w01').options.earlier).toBeUndefined();
  });

  it('news for a lead that waits for nothing wake it', async () => {
    await rig.working(LEAD_ID);
    rig.transcript(LEAD_ID, prompt(`task of ${LEAD_ID}`), answer('I wait'));
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'did it' }, 'protocol');
    await rig.clock.advance(1_000);
    rig.die();
    await rig.takeUp(LEAD_ID);
    expect(rig.backend.sending(LEAD_ID).text).toContain('w01 (implementer) reports done: did it');
  });
});

describe('a turn that ended while there was no supervisor', () => {
  it('settles its run by what was reported before', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'did it' }, 'protocol');
    rig.transcript('w01', prompt('task of w01'), answer('done'));
    rig.die();
    await rig.takeUp('w01');
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'did it' });
    expect([rig.receipts('w01'), rig.worker('w01').state]).toEqual([[['task', 'answered']], 'idle']);
  });

  it('settles its run by the flag that it left', async () => {
    await rig.working('w01');
    rig.transcript('w01', prompt('task of w01'), answer('done'));
    flag('w01', 'blocked\nno network');
    rig.die();
    await rig.takeUp('w01');
    expect(rig.run('w01')).toMatchObject({ state: 'blocked', summary: 'no network', evidence: 'flag' });
  });

  it('without a report is asked for one', async () => {
    await rig.working('w01');
    rig.transcript('w01', prompt('task of w01'), answer('done'));
    rig.die();
    await rig.takeUp('w01');
    expect(rig.receipts('w01')).toEqual([
      ['task', 'answered'],
      ['nudge', 'accepted'],
    ]);
    expect(rig.backend.sending('w01').text).toContain('You ended your turn without a report');
  });

  it('as failed leaves its run waiting with the failure', async () => {
    await rig.working('w01');
    rig.transcript('w01', prompt('task of w01'), { type: 'failure', message: 'overloaded' });
    rig.die();
    await rig.takeUp('w01');
    expect(rig.worker('w01')).toMatchObject({
      state: 'waiting',
      waiting_kind: 'report',
      waiting_text: 'overloaded',
    });
  });

  it('before the one that is under way ends nothing', async () => {
    await rig.working('w01');
    rig.transcript('w01', prompt('an earlier one'), answer('done'));
    rig.die();
    await rig.takeUp('w01');
    rig.backend.state('w01', 'working');
    await rig.clock.advance(2_000);
    expect([rig.receipts('w01'), rig.worker('w01').state]).toEqual([[['task', 'started']], 'working']);
  });

  it('is told by the screen where no transcript tells, a failure too until a hook was heard', async () => {
    await rig.working('w01');
    await rig.working('w02');
    rig.die();
    await rig.takeUp('w01');
    rig.backend.state('w01', 'error', { text: 'overloaded' });
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_text: 'overloaded' });
    await rig.takeUp('w02');
    await rig.hook('w02', { fact: 'prompt_submitted', text: 'a person types' });
    rig.backend.state('w02', 'error', { text: 'overloaded' });
    expect(rig.worker('w02').state).toBe('working');
  });

  it('may have a report that nobody settled: the run is settled', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'did it' }, 'protocol');
    rig.die();
    await rig.takeUp('w01');
    expect(rig.run('w01').state).toBe('running');
    await rig.clock.advance(1_000);
    expect(rig.run('w01').state).toBe('succeeded');
  });
});

describe('a process that ended while there was no supervisor', () => {
  const past = (more: Partial<PastAgent> = {}): PastAgent => ({
    started: true,
    end: { kind: 'exited', status: 3 },
    outputTail: 'last words',
    sentinels: [],
    ...more,
  });

  it('fails its run without a report, and the lead is told', async () => {
    await rig.working('w01');
    rig.die();
    await rig.engine.endedMeanwhile(rig.worker('w01'), past());
    expect(rig.run('w01')).toMatchObject({
      state: 'failed',
      failure_code: 'AGENT_EXITED',
      summary: 'last words',
    });
    expect(rig.worker('w01')).toMatchObject({ state: 'exited', exit_status: 3, output_tail: 'last words' });
    expect(rig.notices()).toEqual(['w01 (implementer) exited without a report: last words']);
    // Whoever takes the session up knows it, and says what follows.
    expect(rig.ended).toEqual([]);
  });

  it('settles by its flag, by the sentinel of this run, and by its transcript where the task was only typed', async () => {
    await typedAndDead();
    rig.transcript('w01', prompt('task of w01'), answer('done'));
    flag('w01', 'done\nflagged');
    await rig.working('w02');
    const { nonce } = rig.run('w02');
    rig.die();
    await rig.engine.endedMeanwhile(rig.worker('w01'), past());
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'flagged', evidence: 'flag' });
    const line = `WORKER_BLOCKED[${nonce}]: no key`;
    const sentinels = [{ word: 'blocked', nonce, summary: 'no key', line }] as const;
    await rig.engine.endedMeanwhile(rig.worker('w02'), past({ sentinels }));
    expect(rig.run('w02')).toMatchObject({ state: 'blocked', summary: 'no key', evidence: 'sentinel' });
  });

  it('and left no trace is lost, its run interrupted', async () => {
    await rig.working('w01');
    rig.die();
    await rig.engine.endedMeanwhile(
      rig.worker('w01'),
      past({ end: { kind: 'lost', reason: 'its pane was closed' } }),
    );
    expect([rig.run('w01').state, rig.worker('w01').state]).toEqual(['interrupted', 'lost']);
  });
});
