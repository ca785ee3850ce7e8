import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createRig, type Rig } from '../../../support/recorder/rig.js';

describe('a text sent to an idle agent', () => {
  let rig: Rig;
  beforeEach(async () => {
    rig = await createRig();
  });
  afterEach(() => rig.close());

  it('is submitted once, byte for byte, and proved by the screen', async () => {
    const recorder = await rig.start();
    await recorder.agent.ready();
    const sending = recorder.send('hello there');
    expect(await sending.delivery).toEqual({
      outcome: 'submitted',
      evidence: 'screen',
      how: 'the composer emptied and a turn started',
    });
    expect(recorder.submissions()).toEqual(['hello there']);
    expect(sending).toMatchObject({ held: [], typed: [11] });
  });
});
