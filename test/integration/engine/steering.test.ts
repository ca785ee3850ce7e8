import { readFileSync, statSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { EngineRig } from '../../support/engine-rig.js';

let rig: EngineRig;
beforeEach(() => {
  rig = new EngineRig();
});
afterEach(() => rig.close());

const ended = { fact: 'turn_ended', text: '' } as const;
const took = (text: string) => ({ fact: 'prompt_submitted', text }) as const;

/** The lead's answer reaches w01 while its turn, in which it asked, still runs. */
async function answeredInTurn(): Promise<void> {
  await rig.working('w01');
  rig.engine.ask('w01', 'which name?');
  rig.instruct('w01', 'call it slug');
  await rig.until('the answer', () => rig.backend.isSending('w01'));
  rig.backend.sending('w01').typed();
  await rig.hook('w01', took('call it slug'));
  await rig.calm();
}

describe('a text that is taken into a turn', () => {
  it('may be the next turn: the end of this one asks for no report', async () => {
    await answeredInTurn();
    expect(await rig.endTurn('w01')).toBe(null);
    await rig.clock.advance(5_000);
    expect(rig.count('message.answered', 'w01')).toBe(0);
    rig.engine.report('w01', { state: 'succeeded', summary: 'named' }, 'protocol');
    await rig.endTurn('w01');
    expect(rig.run('w01')).toMatchObject({ state: 'succeeded', summary: 'named' });
    expect(rig.receipts('w01')).toEqual([
      ['task', 'answered'],
      ['follow_up', 'answered'],
    ]);
  });

  it('was part of it when the screen comes to rest: then it is asked for its report', async () => {
    await answeredInTurn();
    await rig.hook('w01', ended);
    rig.backend.state('w01', 'idle');
    await rig.clock.advance(700);
    await rig.calm();
    await rig.clock.advance(250);
    await rig.calm();
    expect(rig.receipts('w01').slice(0, 2)).toEqual([
      ['task', 'answered'],
      ['follow_up', 'answered'],
    ]);
    expect(rig.receipts('w01')[2]?.[0]).toBe('nudge');
  });

  it('and typed by a person counts alike', async () => {
    await rig.working('w01');
    await rig.hook('w01', took('please hurry'));
    expect(await rig.endTurn('w01')).toBe(null);
    expect(rig.count('message.answered', 'w01')).toBe(0);
  });
});

describe('a turn that ends while something of it still runs', () => {
  it('[C-17] is not the end: nothing is asked, nothing is settled, and it goes on by itself', async () => {
    const run = await rig.working('w01');
    expect(await rig.hook('w01', { ...ended, goesOn: true })).toBe(null);
    await rig.clock.advance(60_000);
    expect(rig.worker('w01').state).toBe('idle');
    expect(rig.run('w01')).toMatchObject({ run_id: run.run_id, state: 'running', nudges: 0 });
    await rig.hook('w01', took('<task-notification>'));
    expect(rig.worker('w01').state).toBe('working');
    expect(await rig.endTurn('w01')).not.toBe(null);
  });
});

describe('a turn that ends without a word, asked for it', () => {
  it('keeps nothing back: an instruction that waits behind it gets its turn, and the lead is told', async () => {
    await rig.working('w01');
    rig.instruct('w01', 'the next');
    expect(await rig.endTurn('w01')).not.toBe(null);
    await rig.endTurn('w01', 'well');
    await rig.until('the next text', () => rig.backend.isSending('w01'));
    expect(rig.backend.sending('w01').text).toBe('the next');
    const [first] = rig.store.runs(rig.deps.sessionId, 'w01');
    expect(first).toMatchObject({ state: 'failed', failure_code: 'NO_REPORT', summary: 'well' });
    expect(rig.notices()).toEqual(['w01 (implementer) ended its turn without a report: well']);
  });
});

describe('a message to a worker that stands at a permission', () => {
  it('is no answer to it: it is a run of its own, after this one', async () => {
    await rig.working('w01');
    await rig.hook('w01', { fact: 'waiting', kind: 'permission', text: 'rm x?' });
    const { continues } = rig.instruct('w01', 'and then this');
    expect(continues).toBe(false);
    rig.backend.state('w01', 'working');
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.endTurn('w01');
    await rig.until('the next text', () => rig.backend.isSending('w01'));
    expect(rig.backend.sending('w01').text).toBe('and then this');
  });
});

describe('a turn that fails', () => {
  it('waits for a person where only a person can help, and says for what', async () => {
    await rig.working('w01');
    await rig.hook('w01', { fact: 'turn_failed', text: 'your limit resets at 3pm', kind: 'quota' });
    expect(rig.run('w01')).toMatchObject({ state: 'waiting', waiting_kind: 'quota' });
    expect(rig.notices()).toEqual(['w01 (implementer) waits (quota): your limit resets at 3pm']);
  });

  it('of a lead for want of quota is not tried again at once', async () => {
    await rig.working('lead');
    await rig.hook('lead', { fact: 'turn_failed', text: 'limit', kind: 'quota' });
    expect(rig.worker('lead')).toMatchObject({ state: 'waiting', waiting_kind: 'quota' });
    expect(rig.receipts('lead').map(([kind]) => kind)).toEqual(['task']);
  });
});

describe('a text that its composer would change', () => {
  it.each(['a\tb', 'x'.repeat(200)])('is handed over as a private file: %j', async (text) => {
    await rig.close();
    rig = new EngineRig({ paste: { limitBytes: 100, unsafe: /\t/ } });
    await rig.start('w01', text);
    const { text: typed } = rig.backend.sending('w01');
    const [, file = '', bytes] = /in the file (\S+) \((\d+) bytes\)/.exec(typed) ?? [];
    expect(readFileSync(file, 'utf8')).toBe(text);
    expect([Number(bytes), statSync(file).mode & 0o777]).toEqual([text.length, 0o600]);
    rig.backend.sending('w01').typed();
    await rig.hook('w01', took(typed));
    await rig.calm();
    const submitted = rig.events().find(({ type }) => type === 'message.submitted');
    expect(submitted?.data).toMatchObject({ how: expect.stringContaining(file) as string });
  });
});

describe('a worker that is held', () => {
  it('is followed, and gets its first text once it is released', async () => {
    await rig.working('w01');
    rig.engine.report('w01', { state: 'succeeded', summary: 'one' }, 'protocol');
    await rig.endTurn('w01');
    rig.engine.attach(rig.worker('w01'), { held: true });
    rig.instruct('w01', 'more');
    await rig.calm();
    expect(rig.backend.isSending('w01')).toBe(false);
    rig.engine.release('w01');
    await rig.until('the text', () => rig.backend.isSending('w01'));
  });
});

it('a text that a person’s words were fused to is told as that', async () => {
  await rig.start('w01', 'do it');
  rig.backend.sending('w01').typed();
  await rig.hook('w01', took('wait, do it please'));
  await rig.calm();
  const submitted = rig.events().find(({ type }) => type === 'message.submitted');
  expect(submitted?.data).toMatchObject({
    how: 'the agent took it together with other text (prompt hook)',
  });
});
