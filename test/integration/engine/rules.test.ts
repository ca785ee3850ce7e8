import type { WaitingKind } from '../../../src/core/state/states.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventData, EventName } from '../../../src/core/events/index.js';
import type { RunState } from '../../../src/core/state/states.js';
import { fact } from '../../../src/services/engine/deps.js';
import { acceptInstruction } from '../../../src/services/engine/instruct.js';
import { nextDelivery } from '../../../src/services/engine/next-delivery.js';
import { endRun, type Ending } from '../../../src/services/engine/outcomes.js';
import { leadTurnVerdict, workerTurnVerdict } from '../../../src/services/engine/turn-verdicts.js';
import { EngineRig } from '../../support/engine-rig.js';
import { sampleEvent, SESSION } from '../../support/sample-events.js';

/** Rows alone: no process is attached, so nothing moves but what the test appends. */
let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
  rig.store.append(sampleEvent('worker.created'), sampleEvent('worker.created', {}, { worker_id: 'w02' }));
});
afterEach(() => rig.close());

function append<Name extends EventName>(
  type: Name,
  worker: string,
  data: EventData<Name>,
  runId?: string,
): void {
  rig.store.append(fact(type, rig.subject(worker, runId), data));
}

/** A run that has begun. */
function running(worker: string, text = 'task'): string {
  const { runId, messageId } = rig.instruct(worker, text, 'task');
  append('run.started', worker, { attempt: 1, attempt_id: 'a', new_process: true }, runId);
  append('message.submitted', worker, { message_id: messageId, how: 'x' }, runId);
  return runId;
}

const waiting = (worker: string, kind: WaitingKind) =>
  append('run.waiting', worker, { kind, text: '?' }, running(worker));

const next = (worker: string, turnOpen = false) => nextDelivery(rig.deps, worker, turnOpen);
const worker = (id: string) => rig.worker(id);

describe('an accepted instruction', () => {
  it('makes a run of its own for a worker, numbered on, with a name of its own', () => {
    const first = rig.instruct('w01', 'one', 'task');
    const second = rig.instruct('w01', 'two');
    const runs = rig.store.runs(SESSION, 'w01');
    expect(runs.map(({ run_id, number, state, message_id }) => [run_id, number, state, message_id])).toEqual([
      [first.runId, 1, 'queued', first.messageId],
      [second.runId, 2, 'queued', second.messageId],
    ]);
    expect(new Set(runs.map(({ nonce }) => nonce)).size).toBe(2);
    expect([first.continues, second.continues]).toEqual([false, false]);
    expect(rig.messages('w01').map(({ state, kind, sender }) => [state, kind, sender])).toEqual([
      ['queued', 'task', 'lead'],
      ['queued', 'follow_up', 'lead'],
    ]);
  });

  it.each(['question', 'quota', 'report'] as const)('goes on with a run that waits (%s)', (kind) => {
    waiting('w01', kind);
    const accepted = rig.instruct('w01', 'go on');
    expect(accepted).toMatchObject({ runId: rig.run('w01').run_id, continues: true });
    expect(rig.run('w01')).toMatchObject({ state: 'running', waiting_kind: null, nudges: 0, reported: [] });
    expect(rig.count('question.answered')).toBe(kind === 'question' ? 1 : 0);
  });

  it('goes on with the lead’s one run as long as that is open, then makes a new one', () => {
    const first = rig.instruct('lead', 'the goal', 'task');
    expect(rig.instruct('lead', 'more')).toMatchObject({ runId: first.runId, continues: true });
    append('run.interrupted', 'lead', { summary: 'paused' }, first.runId);
    expect(rig.instruct('lead', 'again')).toMatchObject({ continues: false });
  });

  it.each([
    ['worker.exited', { attempt_id: 'a', status: 0, reason: 'x', output_tail: '' }, 'exited'],
    ['worker.lost', { reason: 'x' }, 'lost'],
  ] as const)('is refused to a worker that is gone (%s), and nothing is written', (type, data, state) => {
    append(type, 'w01', data);
    const before = rig.store.head();
    const accept = () =>
      rig.store.transaction((tx) =>
        acceptInstruction(rig.deps, tx, worker('w01'), {
          kind: 'follow_up',
          text: 'x',
          sender: 'lead',
          source: 'mcp',
        }),
      );
    expect(accept).toThrow(
      expect.objectContaining({ code: 'WORKER_NOT_RUNNING', params: { worker: 'w01', state } }),
    );
    expect(rig.store.head()).toBe(before);
  });
});

describe('the next delivery', () => {
  it('is nothing for a worker that is not there, is gone, or has all it was sent', () => {
    expect(next('w99')).toBeNull();
    running('w01');
    expect(next('w01')).toBeNull();
    rig.instruct('w02', 'x', 'task');
    append('worker.lost', 'w02', { reason: 'x' });
    expect(next('w02')).toBeNull();
  });

  it('is the whole message, and re-arms what counts as a report', () => {
    const { messageId, runId } = rig.instruct('w01', 'one', 'task');
    expect(next('w01')).toEqual({ messageIds: [messageId], text: 'one', runId, rearms: true });
  });

  it('does not re-arm for a nudge', () => {
    const run = running('w01');
    append(
      'message.accepted',
      'w01',
      { message_id: 'n', kind: 'nudge', sender: 'x', text: 'report', about: null },
      run,
    );
    expect(next('w01')).toEqual({ messageIds: ['n'], text: 'report', runId: run, rearms: false });
  });

  it('is of the run in progress, even when another run’s message was accepted before it', () => {
    const run = running('w01');
    rig.instruct('w01', 'next task');
    expect(next('w01')).toBeNull();
    append('run.waiting', 'w01', { kind: 'question', text: '?' }, run);
    rig.instruct('w01', 'the answer');
    expect(next('w01')).toMatchObject({ text: 'the answer', runId: run });
    append('run.succeeded', 'w01', { summary: '' }, run);
    expect(next('w01')).toMatchObject({ text: 'next task' });
  });

  it('of held messages is the oldest', () => {
    const { messageId } = rig.instruct('w01', 'one', 'task');
    append('message.held', 'w01', { message_id: messageId, reason: 'dialog' });
    expect(next('w01')).toMatchObject({ text: 'one' });
  });

  it.each(['typed', 'unconfirmed', 'refused'] as const)('is not a message that is %s', (state) => {
    const { messageId: message_id } = rig.instruct('w01', 'one', 'task');
    if (state === 'typed') append('message.typed', 'w01', { message_id, bytes: 3 });
    if (state === 'unconfirmed') append('message.unconfirmed', 'w01', { message_id, screen: '' });
    if (state === 'refused') append('message.refused', 'w01', { message_id, reason: '' });
    expect(next('w01')).toBeNull();
  });

  it('of the lead is what it was sent, then its news together, and news only while it is idle', () => {
    rig.instruct('lead', 'the goal', 'task');
    rig.store.append(...rig.newsFor('w01', 'a'), ...rig.newsFor('w02', 'b'));
    expect(next('lead')).toMatchObject({ text: 'the goal' });
    append('message.refused', 'lead', { message_id: next('lead')?.messageIds[0] ?? '', reason: '' });
    expect(next('lead', true)).toBeNull();
    const ids = rig
      .messages('lead')
      .slice(1)
      .map(({ message_id }) => message_id);
    expect(next('lead')).toEqual({
      messageIds: ids,
      text: '[agentorchestr] News from your workers:\n- a\n- b',
      runId: undefined,
      rearms: false,
    });
  });
});

describe('the end of a run', () => {
  const ending: Ending = { type: 'run.succeeded', summary: 'written', evidence: 'flag' };
  const end = (runId: string, id = 'w01', how = ending) =>
    rig.store.transaction((tx) => endRun(rig.deps, tx, worker(id), runId, how));

  it('is taken once; who comes second is told so and changes nothing', () => {
    const run = running('w01');
    expect(end(run)).toBe(true);
    const before = rig.store.head();
    expect(end(run, 'w01', { ...ending, type: 'run.blocked' })).toBe(false);
    expect(end('no such run')).toBe(false);
    expect([rig.store.head(), rig.run('w01').state]).toEqual([before, 'succeeded']);
  });

  it('writes the lead’s notice in the same transaction, and none about the lead itself', () => {
    const run = running('w01');
    end(run);
    const [ended, told] = rig.events().slice(-2);
    expect([ended?.type, told?.type]).toEqual(['run.succeeded', 'message.accepted']);
    expect(told).toMatchObject({
      worker_id: 'lead',
      data: { kind: 'notice', about: 'w01', text: 'w01 (implementer) reports done: written' },
    });
    const goal = running('lead');
    end(goal, 'lead');
    expect(rig.notices()).toHaveLength(1);
  });

  it.each<[Ending, string]>([
    [{ type: 'run.succeeded', summary: '', evidence: 'flag' }, 'reports done'],
    [{ type: 'run.blocked', summary: 'x', evidence: 'flag' }, 'is blocked: x'],
    [{ type: 'run.failed', summary: 'x', evidence: 'flag', failureCode: 'REPORTED' }, 'reports failure: x'],
    [
      { type: 'run.failed', summary: 'x', evidence: 'process', failureCode: 'AGENT_EXITED' },
      'exited without a report: x',
    ],
    [{ type: 'run.timed_out', summary: 'x', evidence: 'process' }, 'ran out of time: x'],
    [{ type: 'run.cancelled', summary: 'x', evidence: 'process' }, 'was cancelled: x'],
    [{ type: 'run.interrupted', summary: 'x', evidence: 'process' }, 'was interrupted: x'],
  ])('is told as it is: %j', (how, words) => {
    end(running('w01'), 'w01', how);
    expect(rig.notices()).toEqual([`w01 (implementer) ${words}`]);
  });

  it.each<[Ending['type'], RunState]>([
    ['run.succeeded', 'cancelled'],
    ['run.blocked', 'cancelled'],
    ['run.failed', 'cancelled'],
    ['run.timed_out', 'cancelled'],
    ['run.cancelled', 'cancelled'],
    ['run.interrupted', 'interrupted'],
  ])('%s of a run that somebody asked to cancel is %s', (type, state) => {
    const run = running('w01');
    append('run.cancel_requested', 'w01', { by: 'lead', reason: 'x' }, run);
    end(run, 'w01', { ...ending, type });
    expect(rig.run('w01').state).toBe(state);
  });
});

describe('what the end of a worker’s turn means', () => {
  const verdict = () => workerTurnVerdict(rig.deps, rig.store.runs(SESSION, 'w01').at(-1) ?? null);

  it('rest: it has no run, or none that began', () => {
    expect(workerTurnVerdict(rig.deps, null)).toBe('rest');
    rig.instruct('w01', 'x', 'task');
    expect(verdict()).toBe('rest');
  });

  it('nudge, then silent', () => {
    const run = running('w01');
    expect(verdict()).toBe('nudge');
    append(
      'message.accepted',
      'w01',
      { message_id: 'n', kind: 'nudge', sender: 'x', text: 'report', about: null },
      run,
    );
    append('message.submitted', 'w01', { message_id: 'n', how: 'x' }, run);
    expect(verdict()).toBe('silent');
  });

  it('settle: it reported, even when something is still to be said to it', () => {
    const run = running('w01');
    append('run.reported', 'w01', { state: 'blocked', summary: '', accepted: false }, run);
    expect(verdict()).toBe('nudge');
    append('run.reported', 'w01', { state: 'blocked', summary: '', accepted: true }, run);
    expect(verdict()).toBe('settle');
  });

  it('question: it asked; rest once the answer is on its way, queued or typed', () => {
    waiting('w01', 'question');
    expect(verdict()).toBe('question');
    const { messageId: message_id } = rig.instruct('w01', 'red');
    expect(verdict()).toBe('rest');
    append('message.typed', 'w01', { message_id, bytes: 3 });
    expect(verdict()).toBe('rest');
    append('message.submitted', 'w01', { message_id, how: 'x' });
    expect(verdict()).toBe('nudge');
  });

  it('rest: it waits at a gate of its own', () => {
    waiting('w01', 'permission');
    expect(verdict()).toBe('rest');
  });
});

describe('what the end of the lead’s turn means', () => {
  const verdict = () => leadTurnVerdict(rig.deps, rig.store.runs(SESSION, 'lead').at(-1) ?? null);
  const nudge = () => {
    const { run_id } = rig.run('lead');
    append(
      'message.accepted',
      'lead',
      { message_id: rig.deps.newId(), kind: 'nudge', sender: 'x', text: 'go on', about: null },
      run_id,
    );
    const message_id = rig.messages('lead').at(-1)?.message_id ?? '';
    append('message.submitted', 'lead', { message_id, how: 'x' }, run_id);
  };

  it('rest: it has no run, or the goal is decided, or the session is not active', () => {
    expect(verdict()).toBe('rest');
    running('lead');
    const session = { session_id: SESSION, source: 'mcp', evidence: 'protocol' } as const;
    rig.store.append(fact('session.paused', session, { reason: 'x' }));
    expect(verdict()).toBe('rest');
    rig.store.append(fact('session.resumed', session, { reason: 'x' }));
    expect(verdict()).toBe('nudge');
    rig.store.append(fact('goal.failed', session, { reason: 'x' }));
    expect(verdict()).toBe('rest');
  });

  it('nudge twice, then stuck', () => {
    running('lead');
    const verdicts = [verdict()];
    for (let time = 0; time < 2; time++) {
      nudge();
      verdicts.push(verdict());
    }
    expect(verdicts).toEqual(['nudge', 'nudge', 'stuck']);
  });

  it('rest while a worker is at it or waits for the person, not while it waits for the lead', () => {
    running('lead');
    const run = running('w01');
    expect(verdict()).toBe('rest');
    append('run.waiting', 'w01', { kind: 'permission', text: '?' }, run);
    expect(verdict()).toBe('rest');
    append('run.waiting', 'w01', { kind: 'question', text: '?' }, run);
    expect(verdict()).toBe('nudge');
  });

  it('rest while there is news or a message for it', () => {
    running('lead');
    rig.store.append(...rig.newsFor('w01', 'x'));
    expect(verdict()).toBe('rest');
    append('message.submitted', 'lead', {
      message_id: rig.messages('lead').at(-1)?.message_id ?? '',
      how: '',
    });
    expect(verdict()).toBe('nudge');
    rig.instruct('lead', 'use tabs');
    expect(verdict()).toBe('rest');
  });
});
