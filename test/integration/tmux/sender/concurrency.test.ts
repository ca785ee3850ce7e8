import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRig, until, type Rig } from '../../../support/recorder/rig.js';
import { textOfSize } from '../../../support/torture-texts.js';

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

describe('[C-11] many senders at once', () => {
  it('to one agent: twenty texts arrive whole, each once, in the order of the calls', async () => {
    const recorder = await rig.start({ workMs: 10 });
    await recorder.agent.ready();
    const texts = Array.from(
      { length: 20 },
      (_, index) => `text ${index}\n${textOfSize(index % 2 === 0 ? 300 : 12_000)}`,
    );
    const outcomes = await Promise.all(texts.map((text) => recorder.send(text).delivery));
    expect(new Set(outcomes.map(({ outcome }) => outcome))).toEqual(new Set(['submitted']));
    expect(recorder.submissions()).toEqual(texts);
    expect(recorder.input().toString()).toBe(texts.map((text) => `\u001b[200~${text}\u001b[201~\r`).join(''));
  });

  it('to ten agents: each gets its own two texts', async () => {
    const recorders = await Promise.all(Array.from({ length: 10 }, () => rig.start({ workMs: 10 })));
    await Promise.all(recorders.map(({ agent }) => agent.ready()));
    const texts = (index: number) => [`for ${index}`, `${textOfSize(9_000)} for ${index} too`];
    await Promise.all(
      recorders.flatMap((recorder, index) => texts(index).map((text) => recorder.send(text).delivery)),
    );
    expect(recorders.map((recorder) => recorder.submissions())).toEqual(
      recorders.map((_, index) => texts(index)),
    );
  });

  it("leaves the person's paste buffers as they are", async () => {
    await rig.client.command('set-buffer', '-b', 'named', '--', 'kept by the person');
    await rig.client.command('set-buffer', '--', 'copied by the person');
    const before = await rig.client.command('list-buffers');
    const recorder = await rig.start();
    await recorder.agent.ready();
    await recorder.type('a draft');
    await until('it is drawn', async () => (await recorder.agent.screen()).includes('a draft'));
    const held = recorder.send('small');
    await until('it is held', () => held.held.length > 0);
    expect(await rig.client.command('list-buffers')).toEqual(before);
    await recorder.press('C-u');
    await held.delivery;
    await recorder.send(textOfSize(20_000)).delivery;
    expect(await rig.client.command('list-buffers')).toEqual(before);
    expect(await rig.client.command('show-buffer')).toEqual(['copied by the person']);
    expect(rig.bufferFiles()).toEqual([]);
  });
});

describe('[C-12] Escape', () => {
  it('is never pressed: not to clear, not to retry, not into a composer with vim keys', async () => {
    const recorder = await rig.start({ vim: true, swallow: 2, workMs: 300 });
    await recorder.agent.ready();
    await recorder.type('a draft');
    await until('it is drawn', async () => (await recorder.agent.screen()).includes('a draft'));
    const sending = recorder.send('first');
    const second = recorder.send('second');
    await recorder.press('C-u');
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(await second.delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.escapes()).toBe(0);
    expect(recorder.submissions()).toEqual(['first', 'second']);
  });
});
