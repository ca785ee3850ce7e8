import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRig, until, type Persona, type Recorder, type Rig } from '../../../support/recorder/rig.js';
import { createSkipClock } from '../../../support/skip-clock.js';
import { textOfSize } from '../../../support/torture-texts.js';

let rig: Rig;
const clock = createSkipClock();
beforeAll(async () => {
  rig = await createRig({ clock });
});
afterAll(() => rig.close());

const started = async (persona: Persona, launch: Parameters<Rig['start']>[1] = {}) => {
  const recorder = await rig.start(persona, launch);
  await recorder.agent.ready();
  return recorder;
};

const keysPressed = (recorder: Recorder) => recorder.input().filter((byte) => byte === 0x0d).length;

/** Lets the whole time of a delivery pass. */
async function sitOut(recorder: Recorder): Promise<void> {
  await until('Enter is pressed', () => keysPressed(recorder) > 0);
  await clock.pass(12_000, () => recorder.agent.screen());
}

const CASES = [0, 1].flatMap((swallow) =>
  [10, 1_000, 20_000].flatMap((size) => ['', '\n'].map((ending) => ({ swallow, size, ending }))),
);

describe('[C-1] a text is submitted exactly once', () => {
  it.each([0, 200, 1_000, 3_000])(
    'when the echo comes %i ms late, whether Enter is swallowed or not, at any size, with or without a line end at the end',
    async (echoDelayMs) => {
      const outcomes = await Promise.all(
        CASES.map(async ({ swallow, size, ending }) => {
          const recorder = await started({ echoDelayMs, swallow, workMs: 300 }, { readyTimeoutMs: 40_000 });
          const text = textOfSize(size);
          const { outcome } = await recorder.send(`${text}${ending}`).delivery;
          const submissions = recorder.submissions();
          const keys = keysPressed(recorder);
          recorder.agent.close();
          await rig.client.command('kill-pane', '-t', recorder.paneId);
          return {
            swallow,
            size,
            ending,
            outcome,
            submissions: submissions.length,
            equal: submissions[0] === text,
            keys,
          };
        }),
      );
      expect(outcomes).toEqual(
        CASES.map((entry) => ({
          ...entry,
          outcome: 'submitted',
          submissions: 1,
          equal: true,
          keys: entry.swallow + 1,
        })),
      );
    },
    90_000,
  );

  it('when an Enter that comes before the paste is drawn is lost', async () => {
    const recorder = await started({ echoDelayMs: 1_000, enterWhileDrawing: 'swallowed', workMs: 300 });
    expect(await recorder.send('one\ntwo').delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual(['one\ntwo']);
  });

  it('when the paste is shown as a mark', async () => {
    const recorder = await started({ collapse: true, swallow: 1, workMs: 100 });
    const text = textOfSize(20_000);
    expect(await recorder.send(text).delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual([text]);
    expect(keysPressed(recorder)).toBe(2);
  });

  it('when Enter is swallowed three times, and the paste is not repeated', async () => {
    const recorder = await started({ swallow: 3, workMs: 100 });
    expect(await recorder.send('again and again').delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual(['again and again']);
    expect(recorder.input().toString()).toBe('\u001b[200~again and again\u001b[201~\r\r\r\r');
  });

  it('when the agent is done with it before anybody looks', async () => {
    const recorder = await started({ workMs: 0 });
    for (const text of ['y', 'y', 'y'])
      expect(await recorder.send(text).delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual(['y', 'y', 'y']);
  });
});

describe('[C-2] what nothing proves is not reported as submitted', () => {
  it('when the agent ignores all input but draws all the time', async () => {
    const recorder = await started({ ignoreInput: true, animate: true });
    const sending = recorder.send('is anybody there');
    await sitOut(recorder);
    expect(await sending.delivery).toMatchObject({
      outcome: 'unconfirmed',
      screen: expect.stringContaining('ready · ?') as unknown,
    });
    expect(sending.typed).toEqual([16]);
    expect(recorder.submissions()).toEqual([]);
    expect(recorder.input().toString()).toBe('\u001b[200~is anybody there\u001b[201~\r');
  });

  it('when a working agent that may be steered ignores all input', async () => {
    const recorder = await rig.start({ ignoreInput: true, animate: true }, { steers: true });
    await recorder.agent.ready();
    recorder.command({ do: 'phase', phase: 'working' });
    await until('it works', () => recorder.states().includes('working'));
    const sending = recorder.send('is anybody there');
    await sitOut(recorder);
    expect(await sending.delivery).toMatchObject({ outcome: 'unconfirmed' });
    expect(keysPressed(recorder)).toBe(1);
  });

  it('when Enter never works, and the screen that comes with it shows the text still there', async () => {
    const recorder = await started({ swallow: 1_000 });
    const sending = recorder.send('stuck in the composer');
    await sitOut(recorder);
    expect(await sending.delivery).toMatchObject({
      outcome: 'unconfirmed',
      screen: expect.stringContaining('> stuck in the composer') as unknown,
    });
    expect(recorder.input().toString()).toMatch(/^\u001b\[200~stuck in the composer\u001b\[201~\r{2,7}$/);
  });

  it('when the agent takes it without a sign', async () => {
    const recorder = await started({ submitIsSilent: true });
    const sending = recorder.send('silence');
    await sitOut(recorder);
    expect(await sending.delivery).toMatchObject({ outcome: 'unconfirmed' });
    expect(recorder.submissions()).toEqual(['silence']);
  });

  it('when the agent ends with the text in its composer', async () => {
    const recorder = await started({ swallow: 1_000 });
    const sending = recorder.send('last words');
    await until('it is drawn', async () => (await recorder.agent.screen()).includes('> last words'));
    await recorder.agent.markEnded(1);
    expect(await sending.delivery).toMatchObject({
      outcome: 'unconfirmed',
      screen: expect.stringContaining('> last words') as unknown,
    });
  });
});

describe('proof from outside', () => {
  const proof = { evidence: 'protocol' as const, how: 'hook' };

  it('wins over a screen that shows nothing', async () => {
    const recorder = await started({ submitIsSilent: true });
    let confirm: (value: typeof proof) => void = () => undefined;
    const confirmation = new Promise<typeof proof>((resolve) => (confirm = resolve));
    const sending = recorder.send('confirmed by a hook', { confirmation });
    await until('it is submitted', () => recorder.submissions().length === 1);
    confirm(proof);
    expect(await sending.delivery).toEqual({ outcome: 'submitted', ...proof });
  });

  it('that fails leaves the screen as the judge', async () => {
    const recorder = await started({});
    const confirmation = Promise.reject(new Error('no hook today'));
    expect(await recorder.send('hello', { confirmation }).delivery).toMatchObject({
      outcome: 'submitted',
      evidence: 'screen',
    });
  });
});

describe('a cancelled text', () => {
  it('is refused while it waits, and the ones behind it go on', async () => {
    const recorder = await started({ workMs: 600 });
    const controller = new AbortController();
    await recorder.send('first').delivery;
    const second = recorder.send('second', { signal: controller.signal });
    const third = recorder.send('third');
    await until('it is held', () => second.held.length > 0);
    controller.abort();
    expect(await second.delivery).toEqual({
      outcome: 'refused',
      reason: 'cancelled before anything was typed',
    });
    expect(await third.delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual(['first', 'third']);
    expect(await rig.client.command('list-buffers')).toEqual([]);
  });

  it('is refused at once when it is not at the head of the queue', async () => {
    const recorder = await started({ workMs: 2_000 });
    await recorder.send('first').delivery;
    const second = recorder.send('second');
    const controller = new AbortController();
    const third = recorder.send('third', { signal: controller.signal });
    controller.abort();
    expect(await third.delivery).toMatchObject({ outcome: 'refused' });
    expect(recorder.submissions()).toEqual(['first']);
    await second.delivery;
  });

  it('is carried to its outcome once it is typed', async () => {
    const recorder = await started({ swallow: 1 });
    const controller = new AbortController();
    const observer = { held: () => undefined, typed: () => controller.abort() };
    expect(await recorder.agent.send('typed already', { observer, signal: controller.signal })).toMatchObject(
      { outcome: 'submitted' },
    );
    expect(recorder.submissions()).toEqual(['typed already']);
  });
});

describe('a program without bracketed paste', () => {
  it('gets a line', async () => {
    const recorder = await started({ bracketed: false });
    expect(await recorder.send('just one line').delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.input().toString()).toBe('just one line\r');
  });

  it('is not given several lines, which would be several submissions', async () => {
    const recorder = await started({ bracketed: false });
    expect(await recorder.send('one\ntwo').delivery).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('bracketed paste') as unknown,
    });
    expect(recorder.input().toString()).toBe('');
  });

  it('that reads raw input gets a line of any length', async () => {
    const recorder = await started({ bracketed: false });
    const text = 'word '.repeat(2_000).trim();
    expect(await recorder.send(text).delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual([text]);
  });

  it('that reads lines is not given one that its terminal would cut', async () => {
    const recorder = await started({ raw: false, bracketed: false });
    expect(await recorder.send('x'.repeat(5_000)).delivery).toMatchObject({
      outcome: 'refused',
      reason: expect.stringContaining('would cut') as unknown,
    });
    expect(recorder.input().toString()).toBe('');
  });
});
