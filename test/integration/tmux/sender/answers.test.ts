import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Answered, BackendEvent } from '../../../../src/backends/contract.js';
import { createRig, until, type Choosing, type Recorder, type Rig } from '../../../support/recorder/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

type State = Extract<BackendEvent, { type: 'state' }>;

const ANSWERED: Answered = { outcome: 'answered', evidence: 'screen' };
const RUN: Choosing = {
  kind: 'permission',
  says: ' Bash command\n  npm test\n Do you want to proceed?',
  options: ['Yes', 'Yes, and always', 'No'],
  by: 'digit',
};
const TRUST: Choosing = {
  kind: 'trust',
  says: ' Do you trust this folder?',
  options: ['No, exit', 'Yes, I trust this folder', 'Ask me later'],
  by: 'move',
};

const started = async (persona: Parameters<Rig['start']>[0] = {}) => {
  const recorder = await rig.start(persona);
  await recorder.agent.ready();
  return recorder;
};

const waits = (recorder: Recorder): State[] =>
  recorder.events.filter((event): event is State => event.type === 'state' && event.state === 'waiting');

/** The dialog as it was told, once it was. */
async function shown(recorder: Recorder, nth = 1) {
  await until('the dialog is told', () => waits(recorder).length >= nth);
  const event = waits(recorder)[nth - 1];
  if (event === undefined || event.dialog === null) throw new Error('it was told without its choices');
  return { ...event.dialog, text: event.text };
}

async function open(recorder: Recorder, dialog: Choosing) {
  const told = waits(recorder).length;
  recorder.command({ do: 'dialog', ...dialog });
  return shown(recorder, told + 1);
}

const keys = (recorder: Recorder) => recorder.input('dialog').toString('latin1');
const [DOWN, UP] = ['\u001b[B', '\u001b[A'];

describe('a dialog on a screen', () => {
  it('is told once it stands, with its own text, its choices and a hash', async () => {
    const recorder = await started();
    recorder.command({ do: 'print', text: 'Yes' });
    const dialog = await open(recorder, RUN);
    expect(dialog).toEqual({
      text: 'Bash command\n  npm test\n Do you want to proceed?\n❯ 1. Yes\n  2. Yes, and always\n  3. No\n  permission · a digit chooses',
      choices: [
        { number: 1, label: 'Yes' },
        { number: 2, label: 'Yes, and always' },
        { number: 3, label: 'No' },
      ],
      promptHash: expect.stringMatching(/^[0-9a-f]{12}$/),
      consented: null,
    });
    expect(waits(recorder)).toHaveLength(1);
  });

  it('has one hash however its mark moves, its clock runs and its pane is sized; another text has another', async () => {
    const recorder = await started({ animate: true });
    const { promptHash } = await open(recorder, RUN);
    await recorder.press('Down');
    await until('the mark moved', async () => (await recorder.agent.screen()).includes('❯ 2.'));
    await rig.client.command('resize-window', '-t', recorder.paneId, '-x', '100', '-y', '30');
    recorder.command({ do: 'closeDialog' });
    await until('it is gone', () => recorder.states().at(-1) === 'idle');
    expect((await open(recorder, { ...RUN, at: 2 })).promptHash).toBe(promptHash);
    expect((await open(recorder, { ...RUN, says: RUN.says.replace('test', 'ci') })).promptHash).not.toBe(
      promptHash,
    );
  });

  it('names the choice that the user agreed to beforehand', async () => {
    const recorder = await started();
    const { consented } = await open(recorder, TRUST);
    expect(consented).toEqual({ to: 'trust', choice: { number: 2, label: 'Yes, I trust this folder' } });
  });
});

describe('[C-10] answering by a digit', () => {
  it('presses that digit alone, no Enter, and proves that the dialog went', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, RUN);
    expect(await recorder.agent.answer({ promptHash, choice: 3 })).toEqual(ANSWERED);
    expect([recorder.answers(), keys(recorder)]).toEqual([['No'], '3']);
    await until('idle again', () => recorder.states().at(-1) === 'idle');
  });

  it('presses nothing into another dialog, and says what is there', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, RUN);
    const other = await open(recorder, { ...RUN, says: ' Delete everything?' });
    expect(await recorder.agent.answer({ promptHash, choice: 1 })).toEqual({
      outcome: 'changed',
      shown: other,
    });
    recorder.command({ do: 'closeDialog' });
    await until('it is gone', () => recorder.states().at(-1) === 'idle');
    expect(await recorder.agent.answer({ promptHash, choice: 1 })).toEqual({
      outcome: 'changed',
      shown: null,
    });
    expect(recorder.input().toString()).toBe('');
  });

  it('lets a dialog stand that came this instant, so that no key is lost', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, { ...RUN, deafMs: 500 });
    expect(await recorder.agent.answer({ promptHash, choice: 1 })).toEqual(ANSWERED);
    expect([recorder.answers(), keys(recorder)]).toEqual([['Yes'], '1']);
  });

  it('presses again what showed no effect', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, { ...RUN, drops: 1 });
    expect(await recorder.agent.answer({ promptHash, choice: 1 })).toEqual(ANSWERED);
    expect([recorder.answers(), keys(recorder)]).toEqual([['Yes'], '11']);
  });

  it('never presses into the dialog that follows', async () => {
    const recorder = await started();
    const next = { ...RUN, says: ' And now rm -rf?' };
    const { promptHash } = await open(recorder, { ...RUN, takesMs: 700, next });
    expect(await recorder.agent.answer({ promptHash, choice: 1 })).toEqual(ANSWERED);
    const following = await shown(recorder, 2);
    expect(following.text).toContain('rm -rf');
    expect([recorder.answers(), keys(recorder)]).toEqual([['Yes'], '1']);
  });

  it('that only changes what can be chosen was text, or a tick: it is unconfirmed, and no key follows', async () => {
    const recorder = await started();
    const next = { ...RUN, options: RUN.options.map((option) => `${option}, but only on monday1`) };
    const { promptHash } = await open(recorder, { ...RUN, next });
    expect(await recorder.agent.answer({ promptHash, choice: 1 })).toMatchObject({
      outcome: 'unconfirmed',
      screen: expect.stringContaining('only on monday1'),
    });
    expect(keys(recorder)).toBe('1');
  });

  it('tells the very same dialog again when it comes back', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, { ...RUN });
    await recorder.agent.answer({ promptHash, choice: 1 });
    expect((await open(recorder, RUN)).promptHash).toBe(promptHash);
  });

  it('given twice at once presses one key', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, RUN);
    const both = await Promise.all([
      recorder.agent.answer({ promptHash, choice: 1 }),
      recorder.agent.answer({ promptHash, choice: 3 }),
    ]);
    expect(both).toEqual([ANSWERED, { outcome: 'changed', shown: null }]);
    expect([recorder.answers(), keys(recorder)]).toEqual([['Yes'], '1']);
  });

  it('refuses a choice that is not there', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, RUN);
    expect(await recorder.agent.answer({ promptHash, choice: 4 })).toMatchObject({ outcome: 'refused' });
    expect(keys(recorder)).toBe('');
  });

  it('leaves copy-mode first', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, RUN);
    await rig.client.command('copy-mode', '-u', '-t', recorder.paneId);
    expect(await recorder.agent.answer({ promptHash, choice: 1 })).toEqual(ANSWERED);
    expect([recorder.answers(), keys(recorder)]).toEqual([['Yes'], '1']);
  });

  it('is unconfirmed when the dialog does not go, and says so with the screen', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, { ...RUN, drops: 99 });
    const answered = await recorder.agent.answer({ promptHash, choice: 1 });
    expect(answered).toMatchObject({ outcome: 'unconfirmed', screen: expect.stringContaining('npm test') });
    expect([recorder.answers(), keys(recorder)]).toEqual([[], '111']);
  });

  it('does not wait for a text that is held for the dialog, which comes after it', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, RUN);
    const sending = recorder.send('after the dialog');
    await until('it is held', () => sending.held.length > 0);
    expect(await recorder.agent.answer({ promptHash, choice: 1 })).toEqual(ANSWERED);
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect([keys(recorder), recorder.submissions()]).toEqual(['1', ['after the dialog']]);
  });

  it('leaves what a person has typed below it as it is', async () => {
    const recorder = await started({ dialogBelowComposer: true });
    await recorder.type('my draft');
    await until('it is drawn', async () => (await recorder.agent.screen()).includes('> my draft'));
    const { promptHash } = await open(recorder, RUN);
    expect(await recorder.agent.answer({ promptHash, choice: 2 })).toEqual(ANSWERED);
    expect(recorder.submissions()).toEqual([]);
    expect(await recorder.agent.screen()).toContain('> my draft');
  });

  it('of an ended agent is refused', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, RUN);
    await recorder.agent.markEnded(0);
    expect(await recorder.agent.answer({ promptHash, choice: 1 })).toMatchObject({ outcome: 'refused' });
    expect(keys(recorder)).toBe('');
  });
});

describe('[C-10] answering by moving the mark', () => {
  it.each([
    { name: 'down', at: 0, choice: 2, pressed: `${DOWN}\r`, label: 'Yes, I trust this folder' },
    { name: 'up', at: 2, choice: 1, pressed: `${UP}${UP}\r`, label: 'No, exit' },
    { name: 'nowhere', at: 1, choice: 2, pressed: '\r', label: 'Yes, I trust this folder' },
  ])('goes $name, then presses Enter', async ({ at, choice, pressed, label }) => {
    const recorder = await started();
    const { promptHash } = await open(recorder, { ...TRUST, at });
    expect(await recorder.agent.answer({ promptHash, choice })).toEqual(ANSWERED);
    expect([recorder.answers(), keys(recorder)]).toEqual([[label], pressed]);
  });

  it('with first keys that are lost goes on from what it sees, and never takes the wrong one', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, { ...TRUST, drops: 2 });
    expect(await recorder.agent.answer({ promptHash, choice: 3 })).toEqual(ANSWERED);
    expect(recorder.answers()).toEqual(['Ask me later']);
    expect(keys(recorder)).toBe(`${DOWN}${DOWN}${DOWN}${DOWN}\r`);
  });

  it('is not deceived by a mark that moves late', async () => {
    const recorder = await started({ echoDelayMs: 700 });
    const { promptHash } = await open(recorder, TRUST);
    expect(await recorder.agent.answer({ promptHash, choice: 2 })).toEqual(ANSWERED);
    expect(recorder.answers()).toEqual(['Yes, I trust this folder']);
  });

  it('stops when the dialog changes on the way', async () => {
    const recorder = await started();
    const { promptHash } = await open(recorder, { ...TRUST, drops: 99 });
    const answering = recorder.agent.answer({ promptHash, choice: 3 });
    await until('it moves', () => keys(recorder) !== '');
    recorder.command({ do: 'dialog', ...RUN });
    expect(await answering).toMatchObject({
      outcome: 'changed',
      shown: { choices: [{ number: 1 }, {}, {}] },
    });
    expect([recorder.answers(), keys(recorder).includes('\r')]).toEqual([[], false]);
  });

  it('answers a dialog at the start, before the agent was ever ready', async () => {
    const recorder = await rig.start({ dialogAtStart: TRUST });
    const { promptHash } = await shown(recorder);
    expect(await recorder.agent.answer({ promptHash, choice: 2 })).toEqual(ANSWERED);
    await recorder.agent.ready();
    expect(recorder.answers()).toEqual(['Yes, I trust this folder']);
  });
});
