import { writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { HookRules } from '../../../src/agents/contract.js';
import { EngineRig, PLAIN_HOOKS } from '../../support/engine-rig.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

async function startOver(hooks: HookRules | null): Promise<void> {
  await rig.close();
  rig = new EngineRig({ hooks });
}

/** The screen says that the turn is over, and every lag for other evidence has passed. */
async function idleOnScreen(workerId: string): Promise<void> {
  rig.backend.state(workerId, 'idle');
  await rig.clock.advance(700);
  await rig.calm();
  await rig.clock.advance(250);
  await rig.calm();
}

const nonceOf = () => rig.run('w01').nonce;
const flagFile = () => join(rig.folder, 'w01', 'done.flag');

describe('a turn that ends without a report', () => {
  it('gets the question for one as the answer of the hook that told of its end', async () => {
    await rig.working('w01');
    const answer = await rig.endTurn('w01');
    expect(answer).toEqual({ goOn: expect.stringContaining(`WORKER_DONE[${nonceOf()}]`) as string });
    expect(rig.receipts('w01')).toEqual([
      ['task', 'answered'],
      ['nudge', 'submitted'],
    ]);
    expect(rig.backend.sendings).toHaveLength(1);
    expect(rig.worker('w01').state).toBe('working');
  });

  it('gets it as a message where the hook cannot carry it', async () => {
    await startOver({ ...PLAIN_HOOKS, continueTurn: () => null });
    await rig.working('w01');
    expect(await rig.endTurn('w01')).toBeNull();
    await rig.until('the nudge', () => rig.backend.isSending('w01'));
    expect(rig.backend.sending('w01').text).toContain('You ended your turn without a report');
    expect(rig.worker('w01').state).toBe('idle');
  });

  it('gets it once; then the worker waits and the lead is told with its last words', async () => {
    await rig.working('w01');
    await rig.endTurn('w01');
    expect(await rig.endTurn('w01', 'I am unsure what to do')).toBeNull();
    expect(rig.run('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'report', nudges: 1 });
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_text: 'I am unsure what to do' });
    expect(rig.notices()).toEqual(['w01 (implementer) waits (report): I am unsure what to do']);
    await rig.endTurn('w01');
    expect(rig.notices()).toHaveLength(1);
  });

  it('gets it once more after a new instruction', async () => {
    await rig.working('w01');
    await rig.endTurn('w01');
    await rig.endTurn('w01');
    rig.instruct('w01', 'look again');
    await rig.take('w01');
    expect(await rig.endTurn('w01')).not.toBeNull();
    expect(rig.store.runs(rig.deps.sessionId, 'w01')).toHaveLength(1);
  });

  it('has no outcome where another began and ended while evidence of the first was waited for', async () => {
    await rig.close();
    rig = new EngineRig({ outcomeBy: 'turn' });
    await rig.working('w01');
    const first = rig.hook('w01', { fact: 'turn_ended', text: 'I have asked' });
    await rig.calm();
    await rig.clock.advance(100);
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'the answer' });
    const second = rig.hook('w01', { fact: 'turn_ended', text: 'thank you' });
    await rig.calm();
    await rig.clock.advance(150);
    await first;
    expect(rig.run('w01').state).toBe('running');
    await rig.clock.advance(100);
    await second;
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'thank you' });
  });

  it('is not asked for one when the answer to its question is already in the composer', async () => {
    await rig.working('w01');
    rig.engine.ask('w01', 'red or blue?');
    rig.instruct('w01', 'red');
    await rig.until('the answer', () => rig.backend.isSending('w01'));
    const ended = rig.hook('w01', { fact: 'turn_ended', text: '' });
    await rig.calm();
    rig.backend.sending('w01').typed();
    await rig.clock.advance(250);
    expect(await ended).toBeNull();
    expect(rig.receipts('w01')).toEqual([
      ['task', 'answered'],
      ['follow_up', 'typed'],
    ]);
  });

  it('may still be reported by a flag that is read when the turn ends', async () => {
    await rig.working('w01');
    await writeFile(flagFile(), 'done\nwritten last');
    await rig.endTurn('w01');
    await rig.calm();
    await rig.clock.advance(1_000);
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'written last', evidence: 'flag' });
    expect(rig.receipts('w01')).toEqual([['task', 'answered']]);
  });

  it('is asked for one although bytes that are no text stand in the flag’s place', async () => {
    await rig.working('w01');
    writeFileSync(flagFile(), Buffer.from([0xff, 0xfe, 0x00]));
    expect(await rig.endTurn('w01')).not.toBeNull();
  });

  it('is not taken for reported by a flag about the instruction before, written while the next was held', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.clock.advance(1_000);
    rig.instruct('w01', 'second');
    await rig.until('the second text', () => rig.backend.isSending('w01'));
    rig.backend.sending('w01').held('working');
    writeFileSync(flagFile(), 'done\none');
    await rig.endTurn('w01');
    await rig.take('w01');
    expect(await rig.endTurn('w01')).not.toBeNull();
    expect(rig.run('w01')).toMatchObject({ number: 2, state: 'running', reported: [] });
  });
});

describe('an idle screen', () => {
  it('ends a turn only after the hook had its time to say so', async () => {
    await rig.working('w01');
    rig.backend.state('w01', 'idle');
    await rig.clock.advance(699);
    expect(rig.receipts('w01')).toEqual([['task', 'started']]);
    await rig.clock.advance(1);
    expect(rig.receipts('w01')[0]).toEqual(['task', 'answered']);
  });

  it('ends nothing when the agent is at work again before that', async () => {
    await rig.working('w01');
    rig.backend.state('w01', 'idle');
    await rig.clock.advance(500);
    rig.backend.state('w01', 'working');
    await rig.clock.advance(5_000);
    expect(rig.receipts('w01')).toEqual([['task', 'started']]);
  });

  it('ends nothing when a hook says meanwhile that a person has begun a turn', async () => {
    await rig.working('w01');
    rig.backend.state('w01', 'idle');
    await rig.clock.advance(500);
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'one more thing' });
    await rig.clock.advance(5_000);
    expect(rig.receipts('w01')).toEqual([['task', 'started']]);
  });

  it('from before the turn does not end it', async () => {
    await rig.start('w01');
    rig.backend.state('w01', 'idle');
    rig.backend.sending('w01').typed();
    await rig.hook('w01', { fact: 'prompt_submitted', text: 'task of w01' });
    await rig.calm();
    await rig.clock.advance(5_000);
    await rig.calm();
    expect(rig.receipts('w01')).toEqual([['task', 'started']]);
    expect(rig.worker('w01').state).toBe('working');
  });

  it('ends a turn that began and ended while the proof was looked for', async () => {
    await startOver(null);
    await rig.start('w01');
    rig.backend.sending('w01').typed();
    rig.backend.state('w01', 'working');
    rig.backend.state('w01', 'idle');
    rig.backend.sending('w01').submitted();
    await rig.calm();
    expect(rig.receipts('w01')).toEqual([['task', 'started']]);
    await rig.clock.advance(250);
    expect(rig.receipts('w01')[0]).toEqual(['task', 'answered']);
  });

  it('ends such a turn also when its hooks named another text', async () => {
    await rig.start('w01');
    rig.backend.sending('w01').typed();
    await rig.hook('w01', { fact: 'prompt_submitted', text: '[Pasted text #1]' });
    await rig.endTurn('w01');
    expect(rig.receipts('w01')).toEqual([['task', 'typed']]);
    rig.backend.sending('w01').submitted();
    await rig.calm();
    await rig.clock.advance(700);
    await rig.calm();
    await rig.clock.advance(250);
    await rig.calm();
    expect(rig.receipts('w01')).toEqual([
      ['task', 'answered'],
      ['nudge', 'accepted'],
    ]);
  });
});

describe('an agent at a gate of its own', () => {
  it('makes its run wait, tells the lead once, and goes on with the run when it is let through', async () => {
    await rig.working('w01');
    rig.backend.state('w01', 'waiting', { kind: 'permission', text: 'May I run rm?' });
    await rig.clock.advance(700);
    rig.backend.state('w01', 'waiting', { kind: 'permission', text: 'May I run rm? 2 s' });
    await rig.clock.advance(700);
    expect(rig.run('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'permission' });
    expect(rig.notices()).toEqual(['w01 (implementer) waits (permission): May I run rm?']);
    rig.backend.state('w01', 'working');
    expect(rig.run('w01').state).toBe('running');
    expect(rig.count('permission.answered', 'w01')).toBe(1);
  });

  it('that stands there before it took its first text goes on with it afterwards', async () => {
    await rig.start('w01');
    rig.backend.state('w01', 'waiting', { kind: 'trust', text: 'Trust this folder?' });
    expect(rig.run('w01').state).toBe('waiting');
    await rig.take('w01');
    expect([rig.run('w01').state, rig.worker('w01').state]).toEqual(['running', 'working']);
  });
});

describe('a question to the lead', () => {
  it('stays open when the turn ends, and its answer goes on with the same run', async () => {
    const { run_id } = await rig.working('w01');
    expect(rig.engine.ask('w01', 'red or blue?')).toBe(true);
    await rig.endTurn('w01');
    expect(rig.worker('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'question' });
    expect(rig.notices()).toEqual(['w01 (implementer) asks: red or blue?']);
    rig.instruct('w01', 'red');
    await rig.take('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'painted' }, 'protocol');
    await rig.endTurn('w01');
    expect(rig.run('w01')).toMatchObject({ run_id, state: 'succeeded', summary: 'painted' });
    expect(rig.count('question.answered', 'w01')).toBe(1);
  });

  it('cannot be asked by a worker without an open run', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'blocked', summary: 'x' }, 'protocol');
    await rig.endTurn('w01');
    expect(rig.engine.ask('w01', 'anything else?')).toBe(false);
    expect(rig.engine.ask('w09', 'who am I?')).toBe(false);
  });

  it('proves that the follow-up it is about was taken', async () => {
    await startOver(null);
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.clock.advance(1_000);
    await idleOnScreen('w01');
    rig.instruct('w01', 'second');
    await rig.until('the second text', () => rig.backend.isSending('w01'));
    rig.backend.sending('w01').typed();
    expect(rig.engine.ask('w01', 'which second?')).toBe(true);
    expect(rig.run('w01')).toMatchObject({ number: 2, state: 'waiting', waiting_kind: 'question' });
  });
});

describe('a turn that fails', () => {
  it('makes a worker wait with what its agent said', async () => {
    await rig.working('w01');
    await rig.hook('w01', { fact: 'turn_failed', text: 'API error 529' });
    expect(rig.run('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'report' });
    expect(rig.notices()).toEqual(['w01 (implementer) waits (report): API error 529']);
    expect(rig.receipts('w01')).toEqual([['task', 'answered']]);
  });

  it('settles by what was reported before it failed', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'all done' }, 'protocol');
    await rig.hook('w01', { fact: 'turn_failed', text: 'API error 529' });
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'all done' });
    expect(rig.notices()).toEqual(['w01 (implementer) reports done: all done']);
  });

  it('is told by the screen only of an agent without hooks', async () => {
    await rig.working('w01');
    rig.backend.state('w01', 'error', { text: 'API error' });
    expect(rig.run('w01').state).toBe('running');
    await startOver(null);
    await rig.working('w01');
    rig.backend.state('w01', 'error', { text: 'API error' });
    expect(rig.run('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'report' });
  });

  it('waits for a person where the screen says that only a person can mend it', async () => {
    await startOver(null);
    await rig.working('w01');
    rig.backend.state('w01', 'error', { text: 'usage limit', kind: 'quota' });
    expect(rig.run('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'quota' });
  });

  it('of a login goes on waiting though its screen takes input again, until a turn begins', async () => {
    await rig.working('lead', 'the goal');
    await rig.hook('lead', { fact: 'turn_failed', text: 'Not logged in', kind: 'login' });
    rig.backend.state('lead', 'idle');
    await rig.calm();
    expect(rig.worker('lead')).toMatchObject({ state: 'waiting', waiting_kind: 'login' });
    await rig.hook('lead', { fact: 'prompt_submitted', text: 'now I am; go on' });
    expect(rig.worker('lead').state).toBe('working');
  });

  it('makes the lead go on, twice, then wait for a person', async () => {
    await rig.working('lead', 'the goal');
    for (let time = 0; time < 2; time++) {
      await rig.hook('lead', { fact: 'turn_failed', text: 'API error' });
      await rig.take('lead');
    }
    expect(rig.stuck).toBe(0);
    await rig.hook('lead', { fact: 'turn_failed', text: 'API error' });
    expect([rig.stuck, rig.worker('lead').state]).toEqual([1, 'waiting']);
    expect(rig.receipts('lead').map(([kind]) => kind)).toEqual(['task', 'nudge', 'nudge']);
  });
});

describe('the end of the lead’s turn', () => {
  it('is left alone while a worker is at it', async () => {
    await rig.working('lead', 'the goal');
    await rig.working('w01');
    expect(await rig.endTurn('lead')).toBeNull();
    expect([rig.receipts('lead'), rig.worker('lead').state]).toEqual([[['task', 'answered']], 'idle']);
  });

  it('is left alone while a message of a person is on its way to it', async () => {
    await rig.working('lead', 'the goal');
    rig.instruct('lead', 'use tabs');
    await rig.until('the message', () => rig.backend.isSending('lead'));
    rig.backend.sending('lead').held('working');
    await rig.endTurn('lead');
    await rig.take('lead');
    expect(rig.receipts('lead')).toEqual([
      ['task', 'answered'],
      ['follow_up', 'started'],
    ]);
  });

  it('is followed up when nothing would wake it, at most twice until a person says something', async () => {
    await rig.working('lead', 'the goal');
    for (let time = 0; time < 2; time++) {
      await rig.endTurn('lead');
      expect(rig.backend.sending('lead').text).toContain('the goal is neither done nor failed');
      await rig.take('lead');
    }
    await rig.endTurn('lead');
    expect([rig.stuck, rig.worker('lead')]).toMatchObject([1, { state: 'waiting', waiting_kind: 'report' }]);
    rig.instruct('lead', 'go on then');
    await rig.take('lead');
    await rig.endTurn('lead');
    expect(rig.run('lead').nudges).toBe(1);
  });
});

describe('what hooks say of the conversation', () => {
  it('is the latest id, and no event when it is the same or empty', async () => {
    await startOver({
      ...PLAIN_HOOKS,
      translate: () => [],
      threadId: (body) => String((body as { id: string }).id),
    });
    await rig.start('w01');
    const { signal } = rig.hungUp;
    for (const id of ['a', 'a', '', 'b']) await rig.engine.hook('w01', { id }, signal);
    expect([rig.worker('w01').thread_id, rig.count('thread.opened')]).toEqual(['b', 2]);
  });

  it('is nothing for a worker that is not there, or an agent without hooks', async () => {
    expect(await rig.hook('w07', { fact: 'turn_ended', text: '' })).toBeNull();
    await startOver(null);
    await rig.working('w01');
    expect(await rig.hook('w01', { fact: 'turn_ended', text: '' })).toBeNull();
    expect(rig.receipts('w01')).toEqual([['task', 'started']]);
  });
});
