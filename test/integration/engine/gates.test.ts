import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookFact } from '../../../src/agents/contract.js';
import type { DialogShown } from '../../../src/backends/contract.js';
import { LEAD_ID } from '../../../src/core/ids.js';
import { EngineRig, PLAIN_HOOKS, type EngineRigOptions } from '../../support/engine-rig.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

async function startOver(hooks: EngineRigOptions['hooks']): Promise<void> {
  await rig.close();
  rig = new EngineRig({ hooks: hooks ?? null });
}

const REQUEST: HookFact = { fact: 'permission_requested', tool: 'Bash', text: 'rm -rf build' };
const YES_NO = [
  { number: 1, label: 'Yes' },
  { number: 2, label: 'No' },
];
const dialog = (more: Partial<DialogShown> = {}): DialogShown => ({
  choices: [...YES_NO, { number: 3, label: 'Always' }],
  promptHash: 'of-the-screen',
  consented: null,
  ...more,
});
const shows = (kind: 'permission' | 'trust' | 'question', more: Partial<DialogShown> = {}) =>
  rig.backend.state('w01', 'waiting', { kind, text: `a ${kind} dialog`, dialog: dialog(more) });

/** A hook call that is parked: what it came to, or 'open'. */
function asked(request: HookFact = REQUEST) {
  const call: { answer: unknown } = { answer: 'open' };
  void rig.hook('w01', request).then((answer) => (call.answer = answer));
  return call;
}
const hash = () => rig.worker('w01').waiting_hash ?? '';
const answer = (choice: number, promptHash = hash(), message = '') =>
  rig.engine.answer('w01', { promptHash, choice, message, by: 'person' });
const answeredBy = () =>
  rig.events().flatMap((event) => (event.type === 'permission.answered' ? [event.data] : []));
const kinds = () =>
  rig.events().filter(({ type }) => /^(permission|worker)\.(req|ans|wait|work|idle)/.test(type));

describe('a request for permission through the hook', () => {
  it('is parked, recorded with its answers, and told to the lead', async () => {
    await rig.working('w01');
    const call = asked();
    await rig.calm();
    expect(call.answer).toBe('open');
    expect(rig.worker('w01')).toMatchObject({
      state: 'waiting',
      waiting_kind: 'permission',
      waiting_text: 'rm -rf build',
      waiting_choices: YES_NO,
      waiting_via: 'hook',
      waiting_hash: expect.stringMatching(/^[0-9a-f]{12}$/),
    });
    expect(rig.run('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'permission' });
    expect(rig.notices()).toEqual(['w01 (implementer) waits (permission): rm -rf build']);
    expect(rig.count('permission.requested', 'w01')).toBe(1);
  });

  it.each([
    { choice: 1, message: '', given: { allow: true, message: '' }, label: 'Yes' },
    {
      choice: 2,
      message: 'not that folder',
      given: { allow: false, message: 'not that folder' },
      label: 'No',
    },
  ])(
    'is answered with $label, without a key, and the worker works again',
    async ({ choice, message, given, label }) => {
      await rig.working('w01');
      const call = asked();
      await rig.calm();
      expect(await answer(choice, hash(), message)).toEqual({ outcome: 'answered', evidence: 'protocol' });
      await rig.calm();
      expect(call.answer).toEqual(given);
      expect(answeredBy()).toEqual([{ answer: label, by: 'person' }]);
      expect([rig.worker('w01').state, rig.run('w01').state]).toEqual(['working', 'running']);
      expect(rig.backend.answers).toEqual([]);
    },
  );

  it('takes one answer: the second finds nothing of it', async () => {
    await rig.working('w01');
    asked();
    await rig.calm();
    const asking = hash();
    const both = await Promise.all([answer(1, asking), answer(2, asking)]);
    expect(both.map((outcome) => outcome?.outcome)).toEqual(['answered', 'changed']);
    expect(answeredBy()).toEqual([{ answer: 'Yes', by: 'person' }]);
  });

  it('takes no choice that it does not have, and stays open', async () => {
    await rig.working('w01');
    const call = asked();
    await rig.calm();
    expect(await answer(3)).toEqual({ outcome: 'no_choice' });
    await rig.calm();
    expect(call.answer).toBe('open');
  });

  it('is not overwritten by its own dialog on the screen, before or after', async () => {
    await rig.working('w01');
    shows('permission');
    await rig.clock.advance(300);
    asked();
    await rig.calm();
    const asking = hash();
    shows('permission');
    await rig.clock.advance(1_000);
    await rig.hook('w01', { fact: 'waiting', kind: 'permission', text: 'needs your permission' });
    expect(rig.worker('w01')).toMatchObject({ waiting_hash: asking, waiting_via: 'hook' });
    expect([rig.count('worker.waiting'), rig.notices().length]).toEqual([1, 1]);
  });

  it('that was answered waits no more, though a busy agent draws its dialog afterwards; one that stays is told', async () => {
    await rig.working('w01');
    asked();
    await rig.calm();
    await answer(1);
    rig.backend.state('w01', 'working');
    shows('permission');
    await rig.clock.advance(5_000);
    expect(rig.worker('w01').state).toBe('working');
    expect(rig.count('worker.waiting')).toBe(1);
    rig.backend.state('w01', 'working');
    shows('permission');
    await rig.clock.advance(6_000);
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_hash: 'of-the-screen' });
  });

  it('that a person decides at the agent is released with nothing, and was answered there', async () => {
    await rig.working('w01');
    const call = asked();
    await rig.calm();
    shows('permission');
    rig.backend.state('w01', 'working');
    await rig.calm();
    expect(call.answer).toEqual({});
    expect(answeredBy()).toEqual([{ answer: 'given at the agent', by: 'person' }]);
    expect([rig.worker('w01').state, rig.run('w01').state]).toEqual(['working', 'running']);
  });

  it('is newer than a screen that has not shown it yet', async () => {
    await rig.working('w01');
    const call = asked();
    await rig.calm();
    rig.backend.state('w01', 'working');
    await rig.clock.advance(1_000);
    expect([call.answer, rig.worker('w01').state]).toEqual(['open', 'waiting']);
  });

  it.each<HookFact>([
    { fact: 'turn_ended', text: '' },
    { fact: 'turn_failed', text: 'x' },
    { fact: 'prompt_submitted', text: 'x' },
    { fact: 'session_ended' },
  ])('is released when the agent says $fact', async (said) => {
    await rig.working('w01');
    const call = asked();
    await rig.calm();
    void rig.hook('w01', said);
    await rig.calm();
    await rig.clock.advance(300);
    expect(call.answer).toEqual({});
  });

  it('refused at the agent without a word to us: its run goes on with the end of the turn, not waiting for ever', async () => {
    await rig.working('w01');
    asked();
    await rig.calm();
    shows('permission');
    rig.backend.state('w01', 'idle');
    await rig.clock.advance(700);
    await rig.calm();
    await rig.clock.advance(250);
    await rig.calm();
    expect(rig.run('w01')).toMatchObject({ state: 'running', nudges: 1 });
  });

  it('is forgotten when the agent hangs up; then its dialog on the screen is the way', async () => {
    await rig.working('w01');
    const call = asked();
    await rig.calm();
    shows('permission');
    rig.hungUp.abort();
    await rig.calm();
    expect(call.answer).toEqual({});
    expect(rig.worker('w01')).toMatchObject({ waiting_hash: 'of-the-screen', waiting_via: 'screen' });
  });

  it('of another kind stands against a screen that draws the begin of that turn late, and no longer', async () => {
    await rig.working('w01');
    rig.backend.state('w01', 'idle');
    await rig.hook('w01', { fact: 'waiting', kind: 'login', text: 'please log in' });
    rig.backend.state('w01', 'working');
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'login' });
    rig.backend.state('w01', 'idle');
    rig.backend.state('w01', 'working');
    expect(rig.worker('w01').state).toBe('working');
  });

  it('is let go, unanswered, when the supervisor leaves', async () => {
    await rig.working('w01');
    const call = asked();
    await rig.calm();
    rig.engine.close();
    await rig.calm();
    expect([call.answer, answeredBy()]).toEqual([{}, []]);
  });

  it('asked twice at once: the second is shown when the first is answered', async () => {
    await rig.working('w01');
    const first = asked();
    await rig.calm();
    const second = asked({ fact: 'permission_requested', tool: 'Bash', text: 'rm -rf dist' });
    await rig.calm();
    await answer(1);
    await rig.calm();
    expect([first.answer, second.answer]).toEqual([{ allow: true, message: '' }, 'open']);
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_text: 'rm -rf dist' });
    await answer(2);
    await rig.calm();
    expect([second.answer, rig.worker('w01').state]).toEqual([{ allow: false, message: '' }, 'working']);
  });

  it('decided at the agent, and followed at once by the next one: the next one is what waits', async () => {
    await rig.working('w01');
    const first = asked();
    await rig.calm();
    shows('permission');
    const second = asked({ fact: 'permission_requested', tool: 'Bash', text: 'rm -rf dist' });
    await rig.calm();
    shows('permission', { promptHash: 'the-next' });
    await rig.calm();
    expect([first.answer, second.answer]).toEqual([{}, 'open']);
    expect(rig.worker('w01')).toMatchObject({
      state: 'waiting',
      waiting_text: 'rm -rf dist',
      waiting_via: 'hook',
    });
    expect(answeredBy()).toEqual([{ answer: 'given at the agent', by: 'person' }]);
  });

  it('of the lead waits for the person as well', async () => {
    await rig.working(LEAD_ID);
    void rig.hook(LEAD_ID, REQUEST);
    await rig.calm();
    expect(rig.worker(LEAD_ID)).toMatchObject({ state: 'waiting', waiting_choices: YES_NO });
    expect(rig.notices()).toEqual([]);
  });

  it('of an agent that takes no answer is only told', async () => {
    const { permissionAnswer: _, ...deaf } = PLAIN_HOOKS;
    await startOver(deaf);
    await rig.working('w01');
    const call = asked();
    await rig.calm();
    expect(call.answer).toBeNull();
    expect(rig.worker('w01')).toMatchObject({ waiting_kind: 'permission', waiting_hash: null });
    shows('permission');
    expect(rig.worker('w01')).toMatchObject({ waiting_hash: 'of-the-screen', waiting_via: 'screen' });
    expect(rig.notices()).toHaveLength(1);
  });
});

describe('a dialog that only the screen shows', () => {
  beforeEach(() => startOver(null));

  it('is answered by keys, which the backend proves, and the worker works again', async () => {
    await rig.working('w01');
    shows('permission');
    rig.backend.onAnswer = () => ({ outcome: 'answered', evidence: 'screen' });
    expect(await answer(3)).toEqual({ outcome: 'answered', evidence: 'screen' });
    expect(rig.backend.answers).toEqual([{ workerId: 'w01', promptHash: 'of-the-screen', choice: 3 }]);
    expect(answeredBy()).toEqual([{ answer: 'Always', by: 'person' }]);
    expect([rig.worker('w01').state, rig.run('w01').state]).toEqual(['working', 'running']);
    rig.backend.state('w01', 'working');
    expect(
      kinds()
        .map(({ type }) => type)
        .slice(-2),
    ).toEqual(['permission.answered', 'worker.working']);
  });

  it.each(['changed', 'unconfirmed', 'refused'] as const)(
    'stays as it is when the answer is %s',
    async (outcome) => {
      await rig.working('w01');
      shows('permission');
      rig.backend.onAnswer = () => ({ outcome, shown: null, screen: '', reason: '' });
      expect((await answer(1))?.outcome).toBe(outcome);
      expect([rig.worker('w01').state, answeredBy()]).toEqual(['waiting', []]);
    },
  );

  it('that is followed by another waits anew, and the lead is told of both', async () => {
    await rig.working('w01');
    shows('permission');
    shows('permission', { promptHash: 'another' });
    shows('permission', { promptHash: 'another' });
    expect([hash(), rig.notices().length, rig.count('run.waiting')]).toEqual(['another', 2, 2]);
  });

  it('asking a question is answered there, and its run goes on', async () => {
    await rig.working('w01');
    rig.backend.state('w01', 'waiting', { kind: 'question', text: 'red or blue?' });
    shows('question');
    expect(rig.worker('w01')).toMatchObject({ waiting_kind: 'question', waiting_hash: 'of-the-screen' });
    expect([rig.run('w01').state, rig.notices().length]).toEqual(['waiting', 1]);
    rig.backend.state('w01', 'working');
    expect([rig.worker('w01').state, rig.run('w01').state]).toEqual(['working', 'running']);
  });

  it('[C-10] is never answered by itself, however long it stands', async () => {
    await rig.working('w01');
    shows('permission', { consented: { to: 'bypass', choice: { number: 1, label: 'Yes' } } });
    rig.instruct('w01', 'and another thing');
    rig.engine.pump('w01');
    await rig.clock.advance(3_600_000);
    expect(rig.backend.answers).toEqual([]);
    expect(rig.worker('w01').state).toBe('waiting');
  });

  it('of a worker that is over has nobody to answer it', async () => {
    expect(await answer(1, 'x')).toBeNull();
  });
});

describe('[C-19] a dialog that only asks for what the user agreed to', () => {
  const trust = { consented: { to: 'trust', choice: { number: 2, label: 'No' } } } as const;

  it('is answered once, through the same way, and that is recorded', async () => {
    rig.backend.onAnswer = () => ({ outcome: 'answered', evidence: 'screen' });
    await rig.start('w01');
    shows('trust', trust);
    await rig.calm();
    expect(rig.backend.answers).toEqual([{ workerId: 'w01', promptHash: 'of-the-screen', choice: 2 }]);
    expect(answeredBy()).toEqual([{ answer: 'No', by: 'agreed to beforehand: trust in the project' }]);
    expect([rig.count('worker.waiting'), rig.notices()]).toEqual([0, []]);
    shows('trust', trust);
    await rig.calm();
    expect(rig.backend.answers).toHaveLength(1);
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'trust' });
  });

  it('waits for a person like any other when it does not go away', async () => {
    rig.backend.onAnswer = () => ({ outcome: 'unconfirmed', screen: 'still there' });
    await rig.start('w01');
    shows('trust', trust);
    await rig.calm();
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_hash: 'of-the-screen' });
    expect(answeredBy()).toEqual([]);
  });

  it('is seen though the screen showed it before its agent was known', async () => {
    rig.backend.state('w01', 'waiting', { kind: 'trust', text: 'Trust?', dialog: dialog() });
    await rig.start('w01');
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'trust' });
  });
});
