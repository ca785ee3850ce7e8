import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { EngineRig } from '../../support/engine-rig.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

const sending = () => rig.backend.sending('w01');
const lastReceipt = () => rig.messages('w01').at(-1);

describe('a receipt', () => {
  it('goes from accepted to answered, each step with its evidence', async () => {
    await rig.start('w01');
    sending().typed();
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'task of w01\r\n' });
    await rig.endTurn('w01');
    const story = rig
      .events()
      .filter(({ type }) => type.startsWith('message.'))
      .map(({ type, evidence }) => [type, evidence]);
    expect(story).toEqual([
      ['message.accepted', 'protocol'],
      ['message.queued', 'protocol'],
      ['message.typed', 'process'],
      ['message.submitted', 'protocol'],
      ['message.started', 'protocol'],
      ['message.answered', 'protocol'],
      ['message.accepted', 'protocol'],
      ['message.submitted', 'protocol'],
    ]);
  });

  it('says why it is held, and holds nothing against it later', async () => {
    await rig.start('w01');
    sending().held('human_draft');
    expect(lastReceipt()).toMatchObject({ state: 'held', detail: 'human_draft' });
    sending().held('dialog');
    expect(lastReceipt()).toMatchObject({ state: 'held', detail: 'dialog' });
    sending().submitted('the composer emptied');
    await rig.calm();
    expect(lastReceipt()).toMatchObject({ state: 'started', detail: 'the composer emptied' });
  });

  it('counts a submission once, however many say so', async () => {
    await rig.start('w01');
    const first = sending();
    first.typed();
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'task of w01' });
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'task of w01' });
    await rig.calm();
    expect(first.outcome).toEqual({
      outcome: 'submitted',
      evidence: 'protocol',
      how: 'the agent said so (prompt hook)',
    });
    expect([rig.count('message.submitted'), rig.count('message.started')]).toEqual([1, 1]);
  });

  it('is not proven by what a person types meanwhile', async () => {
    await rig.start('w01');
    sending().typed();
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'something else' });
    expect(lastReceipt()?.state).toBe('typed');
    expect(rig.worker('w01').state).toBe('working');
  });
});

describe('an instruction that does not arrive', () => {
  it('leaves its run waiting with the screen, and the lead is told', async () => {
    await rig.start('w01');
    sending().unconfirmed('> task of w01');
    await rig.calm();
    expect(lastReceipt()).toMatchObject({ state: 'unconfirmed', detail: '> task of w01' });
    expect(rig.run('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'dialog' });
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'dialog' });
    expect(rig.notices()).toHaveLength(1);
    expect(rig.notices()[0]).toMatch(/^w01 \(implementer\) waits \(dialog\): .*nothing proves/);
  });

  it('leaves a follow-up’s run waiting too, and the next message goes on with that run', async () => {
    await rig.working('w01');
    expect(rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol')).toBe(true);
    await rig.endTurn('w01');
    const second = rig.instruct('w01', 'second');
    await rig.until('the second text', () => rig.backend.isSending('w01'));
    sending().refused('the pane is a bare shell');
    await rig.calm();
    expect(rig.run('w01')).toMatchObject({ run_id: second.runId, state: 'waiting', waiting_kind: 'dialog' });
    expect(rig.notices().at(-1)).toContain('a message could not be delivered: the pane is a bare shell');
    const third = rig.instruct('w01', 'third');
    expect(third).toMatchObject({ runId: second.runId, continues: true });
    await rig.until('the third text', () => rig.backend.isSending('w01'));
    expect(sending().text).toBe('third');
    expect(rig.run('w01').started_at).toBeNull();
    await rig.take('w01');
    expect(rig.run('w01')).toMatchObject({
      state: 'running',
      attempt_id: 'attempt-w01',
      started_at: expect.any(String) as unknown,
    });
  });

  it('is told again when the next try fails as well', async () => {
    await rig.start('w01');
    sending().unconfirmed('first screen');
    await rig.calm();
    rig.instruct('w01', 'again');
    await rig.until('the second try', () => rig.backend.isSending('w01'));
    expect(rig.run('w01').state).toBe('running');
    sending().unconfirmed('second screen');
    await rig.calm();
    expect(rig.run('w01').state).toBe('waiting');
    expect(rig.notices()).toHaveLength(2);
  });

  it('is told to the lead also when the delivery itself breaks', async () => {
    await rig.start('w01');
    sending().submitted();
    await rig.calm();
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.endTurn('w01');
    rig.backend.sendError = new Error('no such pane');
    rig.instruct('w01', 'second');
    await rig.until('the refusal', () => lastReceipt()?.state === 'refused');
    expect(lastReceipt()?.detail).toContain('no such pane');
    expect(rig.run('w01').state).toBe('waiting');
    expect(rig.notices().at(-1)).toContain('no such pane');
  });

  it('is told to the lead, once, when its file cannot be written', async () => {
    await rig.close();
    rig = new EngineRig({ paste: { limitBytes: 30, unsafe: null } });
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.endTurn('w01');
    writeFileSync(join(rig.deps.workerDirectory('w01'), 'messages'), 'not a folder');
    rig.instruct('w01', 'much longer than what can be typed there');
    await rig.until('the refusal', () => lastReceipt()?.state === 'refused');
    await rig.calm();
    expect(rig.run('w01').state).toBe('waiting');
    expect(rig.notices().filter((text) => text.includes('a message could not be delivered'))).toHaveLength(1);
    expect(rig.backend.isSending('w01')).toBe(false);
  });

  it('is not sent again by itself when what became of it cannot be recorded', async () => {
    await rig.start('w01');
    vi.spyOn(rig.store, 'transaction').mockImplementationOnce(() => {
      throw new Error('there is no space left');
    });
    sending().refused('the pane is a bare shell');
    await rig.calm();
    expect(rig.backend.sendings).toHaveLength(1);
    rig.engine.pump('w01');
    await rig.until('the next try', () => rig.backend.isSending('w01'));
  });

  it('was taken after all when the agent’s hook says so later', async () => {
    await rig.start('w01');
    sending().unconfirmed('> task of w01');
    await rig.calm();
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'task of w01' });
    expect(lastReceipt()).toMatchObject({ state: 'started', evidence: 'protocol' });
    expect([rig.run('w01').state, rig.worker('w01').state]).toEqual(['running', 'working']);
  });

  it('was taken after all when the agent reports on it', async () => {
    await rig.start('w01');
    sending().unconfirmed('> task of w01');
    await rig.calm();
    expect(rig.engine.report('w01', { state: 'succeeded', summary: 'did it' }, 'protocol')).toBe(true);
    await rig.endTurn('w01');
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'did it' });
    expect(lastReceipt()).toMatchObject({ state: 'answered' });
  });

  it('does not undo a proof that came first', async () => {
    await rig.start('w01');
    const first = sending();
    first.isTyped = true;
    first.options.observer.typed(1);
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'task of w01' });
    first.unconfirmed('a screen that shows nothing');
    await rig.calm();
    expect(lastReceipt()?.state).toBe('started');
    expect([rig.run('w01').state, rig.notices()]).toEqual(['running', []]);
  });
});

describe('what waits its turn', () => {
  it('goes to the agent in order of acceptance, one run after the other', async () => {
    await rig.working('w01');
    for (const text of ['second', 'third', 'fourth']) rig.instruct('w01', text);
    const seen: string[] = [];
    for (let turn = 0; turn < 4; turn++) {
      rig.engine.report('w01', { state: 'succeeded', summary: String(turn) }, 'protocol');
      await rig.endTurn('w01');
      if (turn === 3) break;
      await rig.until('the next text', () => rig.backend.isSending('w01'));
      seen.push(sending().text);
      await rig.take('w01');
    }
    expect(seen).toEqual(['second', 'third', 'fourth']);
    expect(rig.store.runs(rig.deps.sessionId, 'w01').map(({ number, state }) => [number, state])).toEqual([
      [1, 'succeeded'],
      [2, 'succeeded'],
      [3, 'succeeded'],
      [4, 'succeeded'],
    ]);
  });

  it('does not keep an answer from its run when a follow-up was accepted before it', async () => {
    const first = await rig.working('w01');
    rig.instruct('w01', 'and then this');
    rig.engine.ask('w01', 'red or blue?');
    await rig.endTurn('w01');
    const answer = rig.instruct('w01', 'red');
    expect(answer).toMatchObject({ runId: first.run_id, continues: true });
    await rig.until('the answer', () => rig.backend.isSending('w01'));
    expect(sending().text).toBe('red');
  });

  it('does not keep the question for a report from its run either', async () => {
    await rig.close();
    rig = new EngineRig({ hooks: null });
    await rig.working('w01');
    rig.instruct('w01', 'and then this');
    rig.backend.state('w01', 'idle');
    await rig.clock.advance(250);
    await rig.calm();
    await rig.clock.advance(250);
    await rig.until('the nudge', () => rig.backend.isSending('w01'));
    expect(sending().text).toContain('You ended your turn without a report');
  });

  it('is not taken for submitted because the agent reports on what it did before', async () => {
    await rig.working('w01');
    rig.instruct('w01', 'second');
    rig.engine.report('w01', { state: 'succeeded', summary: 'first' }, 'protocol');
    await rig.clock.advance(1_000);
    await rig.until('the follow-up on its way', () => rig.backend.isSending('w01'));
    sending().held('working');
    // Still in its first turn, it says once more that it is done.
    expect(rig.engine.report('w01', { state: 'succeeded', summary: 'first, again' }, 'protocol')).toBe(false);
    expect(rig.run('w01')).toMatchObject({ number: 2, state: 'queued', reported: [] });
    expect(lastReceipt()).toMatchObject({ state: 'held', detail: 'working' });
  });
});

describe('nothing is delivered', () => {
  it('after the engine was closed', async () => {
    await rig.start('w01');
    const { options } = sending();
    rig.engine.close();
    expect(options.signal?.aborted).toBe(true);
    rig.instruct('w01', 'too late');
    rig.engine.pump('w01');
    await rig.calm();
    expect(rig.backend.sendings).toHaveLength(1);
    expect(rig.engine.report('w01', { state: 'succeeded', summary: 'x' }, 'protocol')).toBe(false);
    expect(await rig.hook('w01', { fact: 'turn_ended', text: '' })).toBeNull();
  });

  it('to a worker that was ended while its text was held', async () => {
    await rig.start('w01');
    sending().held('dialog');
    const { options } = sending();
    rig.engine.endOpenRuns(rig.worker('w01'), {
      type: 'run.cancelled',
      summary: 'not needed',
      evidence: 'process',
    });
    await rig.calm();
    expect(options.signal?.aborted).toBe(true);
    expect(lastReceipt()).toMatchObject({ state: 'refused', detail: 'not needed' });
    expect(rig.worker('w01').state).not.toBe('waiting');
  });

  it('of a nudge whose run has ended meanwhile by a late report', async () => {
    await rig.close();
    rig = new EngineRig({ hooks: null });
    await rig.working('w01');
    rig.backend.state('w01', 'idle');
    await rig.clock.advance(250);
    await rig.calm();
    await rig.clock.advance(250);
    await rig.until('the nudge', () => rig.backend.isSending('w01'));
    const nudge = sending();
    nudge.held('human_draft');
    rig.engine.report('w01', { state: 'succeeded', summary: 'late' }, 'sentinel');
    await rig.clock.advance(1_000);
    await rig.calm();
    expect(rig.run('w01').state).toBe('succeeded');
    expect(nudge.outcome).toMatchObject({ outcome: 'refused' });
    expect(rig.receipts('w01')).toEqual([
      ['task', 'answered'],
      ['nudge', 'refused'],
    ]);
  });
});

describe('the flag file', () => {
  it('that cannot be removed keeps no instruction back', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.endTurn('w01');
    mkdirSync(join(rig.folder, 'w01', 'done.flag'));
    rig.instruct('w01', 'second');
    await rig.until('the second text', () => rig.backend.isSending('w01'));
    expect(sending().text).toBe('second');
  });
});
