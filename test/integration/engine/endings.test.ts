import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { fact } from '../../../src/services/engine/deps.js';
import { EngineRig } from '../../support/engine-rig.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

const exit = (workerId: string, status: number | null, outputTail = 'last words\n\n') =>
  rig.backend.emit({ type: 'exited', workerId, attemptId: `attempt-${workerId}`, status, outputTail });

const cancel = (workerId: string) =>
  rig.store.append(
    fact('run.cancel_requested', rig.subject(workerId, rig.run(workerId).run_id), {
      by: 'lead',
      reason: 'not needed',
    }),
  );

describe('an agent whose process ends', () => {
  it('without a report fails its run with its last line, and the lead is told once', async () => {
    await rig.working('w01');
    exit('w01', 3);
    expect(rig.run('w01')).toMatchObject({
      state: 'failed',
      summary: 'last words',
      failure_code: 'AGENT_EXITED',
      evidence: 'process',
    });
    expect(rig.worker('w01')).toMatchObject({
      state: 'exited',
      exit_status: 3,
      output_tail: 'last words\n\n',
    });
    expect(rig.notices()).toEqual(['w01 (implementer) exited without a report: last words']);
    expect(rig.ended).toEqual([{ workerId: 'w01', how: { kind: 'exited', status: 3 } }]);
  });

  it('says its error, also where it explains its usage after it', async () => {
    await rig.working('w01');
    exit('w01', 2, 'starting\nError: no such model\n\nUsage: agent [OPTIONS]\n  --model NAME\n');
    expect(rig.run('w01').summary).toBe('Error: no such model');
  });

  it('without a word says what is known', async () => {
    await rig.working('w01');
    exit('w01', null, ' \n');
    expect(rig.run('w01').summary).toBe('its process ended with status unknown');
  });

  it('after a report ends its run by that report, although its turn never ended', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'written' }, 'sentinel');
    exit('w01', 1);
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'written', evidence: 'sentinel' });
    expect(rig.notices()).toEqual(['w01 (implementer) reports done: written']);
  });

  it('takes nothing with it: what was still to be sent is refused, what was typed is unconfirmed', async () => {
    await rig.working('w01');
    rig.instruct('w01', 'second');
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.endTurn('w01');
    rig.instruct('w01', 'third');
    await rig.until('the second text', () => rig.backend.isSending('w01'));
    rig.backend.sending('w01').typed();
    exit('w01', 0);
    await rig.calm();
    expect(rig.receipts('w01')).toEqual([
      ['task', 'answered'],
      ['follow_up', 'unconfirmed'],
      ['follow_up', 'refused'],
    ]);
    expect(rig.store.runs(rig.deps.sessionId, 'w01').map(({ state }) => state)).toEqual([
      'succeeded',
      'failed',
      'failed',
    ]);
    expect(rig.broughtBack).toEqual([]);
  });

  it('is told once, and by the attempt that runs now only', async () => {
    await rig.working('w01');
    rig.backend.emit({
      type: 'exited',
      workerId: 'w01',
      attemptId: 'the one before',
      status: 1,
      outputTail: '',
    });
    expect(rig.worker('w01').state).toBe('working');
    exit('w01', 0);
    exit('w01', 0);
    expect([rig.count('worker.exited'), rig.ended.length]).toEqual([1, 1]);
  });

  it('settles as cancelled once that was asked for, whatever it reported', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'written' }, 'protocol');
    cancel('w01');
    exit('w01', 143);
    expect(rig.run('w01')).toMatchObject({ state: 'cancelled', failure_code: null });
    expect(rig.notices()).toEqual(['w01 (implementer) was cancelled: written']);
  });
});

describe('an agent that cannot be reached any more', () => {
  it('has its runs interrupted, with the reason', async () => {
    await rig.working('w01');
    rig.backend.emit({ type: 'lost', workerId: 'w01', reason: 'its pane was closed' });
    rig.backend.emit({ type: 'lost', workerId: 'w01', reason: 'twice' });
    expect(rig.run('w01')).toMatchObject({ state: 'interrupted', summary: 'its pane was closed' });
    expect(rig.worker('w01').state).toBe('lost');
    expect(rig.notices()).toEqual(['w01 (implementer) was interrupted: its pane was closed']);
    expect(rig.ended).toEqual([{ workerId: 'w01', how: { kind: 'lost', reason: 'its pane was closed' } }]);
  });

  it('stays interrupted even when a cancel was asked for', async () => {
    await rig.working('w01');
    cancel('w01');
    rig.backend.emit({ type: 'lost', workerId: 'w01', reason: 'tmux is gone' });
    expect(rig.run('w01').state).toBe('interrupted');
  });
});

describe('an agent that did not become ready', () => {
  it('waits for somebody to look; its task stays on its way', async () => {
    await rig.start('w01');
    rig.engine.notReady('w01', 'it shows a login');
    expect(rig.run('w01')).toMatchObject({ state: 'waiting', waiting_text: 'it shows a login' });
    expect(rig.notices()).toEqual(['w01 (implementer) waits (dialog): it shows a login']);
    await rig.take('w01');
    expect(rig.run('w01').state).toBe('running');
  });
});

describe('events that concern nobody', () => {
  it('change nothing', async () => {
    await rig.working('w01');
    const before = rig.store.head();
    rig.backend.emit({ type: 'output', workerId: 'w01' });
    rig.backend.emit({ type: 'place_lost', reason: 'gone' });
    rig.backend.emit({ type: 'lost', workerId: 'w99', reason: 'who' });
    exit('w99', 0);
    rig.backend.state('w99', 'working');
    rig.engine.pump('w99');
    rig.engine.notReady('w99', 'who');
    expect(rig.store.head()).toBe(before);
  });
});

describe('a worker that is started again', () => {
  it('is followed by one actor: the old one hears and sends nothing more', async () => {
    await rig.start('w01');
    const first = rig.backend.sending('w01');
    rig.engine.attach(rig.worker('w01'));
    expect(first.options.signal?.aborted).toBe(true);
    await rig.calm();
    rig.engine.pump('w01');
    await rig.until('the text again', () => rig.backend.isSending('w01'));
    expect(rig.backend.sendings.map(({ text }) => text)).toEqual(['task of w01', 'task of w01']);
  });
});
