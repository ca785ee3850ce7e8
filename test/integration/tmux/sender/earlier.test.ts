import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EarlierDelivery } from '../../../../src/backends/contract.js';
import { PaneAgent } from '../../../../src/backends/tmux/pane-agent.js';
import { systemClock } from '../../../../src/platform/clock.js';
import type { Clock } from '../../../../src/core/clock.js';
import { silentLogger } from '../../../../src/platform/logger.js';
import { recorderLaunch } from '../../../support/recorder/launch.js';
import { createRig, until, type Persona, type Recorder, type Rig } from '../../../support/recorder/rig.js';
import { createSkipClock } from '../../../support/skip-clock.js';
import { textOfSize } from '../../../support/torture-texts.js';

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

/** The agent of a supervisor that died, as the next one takes it over. */
async function takenOver(
  persona: Persona = {},
  clock: Clock = systemClock,
): Promise<{ recorder: Recorder; agent: PaneAgent; typed: number[] }> {
  const recorder = await rig.start(persona);
  await recorder.agent.ready();
  recorder.agent.close();
  const { client } = rig;
  const agent = new PaneAgent({
    ...{ client, clock, logger: silentLogger, workerId: 'w01', paneId: recorder.paneId },
    launch: recorderLaunch(),
    takenOver: true,
    bufferDirectory: join(rig.sandbox.root, 'buffers'),
    emit: () => undefined,
  });
  client.onOutput((paneId, data) => paneId === recorder.paneId && agent.onOutput(data));
  return { recorder, agent, typed: [] };
}

/** As the sender pastes it. */
async function paste(recorder: Recorder, text: string): Promise<void> {
  await rig.client.command('set-buffer', '-b', 'test', '--', text);
  await rig.client.command('paste-buffer', '-p', '-r', '-d', '-b', 'test', '-t', recorder.paneId);
}

const send = (
  { agent, typed }: { agent: PaneAgent; typed: number[] },
  text: string,
  state: EarlierDelivery['state'],
  takenBefore = 0,
) =>
  agent.send(text, {
    observer: { held: () => undefined, typed: (bytes) => void typed.push(bytes) },
    earlier: { state, takenBefore },
  });

const pastes = (recorder: Recorder) => recorder.input().toString().split('\u001b[200~').length - 1;

describe('a text that an earlier supervisor typed', () => {
  it('and that stands in the composer is submitted by the submit key alone', async () => {
    const one = await takenOver({ workMs: 100 });
    await paste(one.recorder, 'first line\nsecond line');
    expect(await send(one, 'first line\nsecond line', 'typed')).toMatchObject({ outcome: 'submitted' });
    expect(one.recorder.submissions()).toEqual(['first line\nsecond line']);
    expect([pastes(one.recorder), one.typed]).toEqual([1, []]);
  });

  it('and that the composer shows as a mark is submitted where the mark counts its lines', async () => {
    const text = textOfSize(20_000);
    const one = await takenOver({ collapse: true, workMs: 100 });
    await paste(one.recorder, text);
    expect(await send(one, text, 'typed')).toMatchObject({ outcome: 'submitted' });
    expect(one.recorder.submissions()).toEqual([text]);
    expect(pastes(one.recorder)).toBe(1);
  });

  it('and that was submitted before anybody noted it is found on the screen, and not touched again', async () => {
    const one = await takenOver({ workMs: 50 });
    await paste(one.recorder, 'please do it now');
    await one.recorder.press('Enter');
    await until('it was taken', () => one.recorder.submissions().length === 1);
    const input = one.recorder.input().length;
    expect(await send(one, 'please do it now', 'typed')).toMatchObject({
      outcome: 'submitted',
      evidence: 'screen',
      how: expect.stringContaining('the screen shows the prompt') as string,
    });
    expect(one.recorder.input()).toHaveLength(input);
  });

  it('and that the agent shows as a mark only is found by that mark', async () => {
    const text = textOfSize(20_000);
    const one = await takenOver({ collapse: true, workMs: 50 });
    await paste(one.recorder, text);
    await one.recorder.press('Enter');
    await until('it was taken', () => one.recorder.submissions().length === 1);
    expect(await send(one, text, 'typed')).toMatchObject({ outcome: 'submitted', evidence: 'screen' });
    expect(one.recorder.submissions()).toHaveLength(1);
  });

  it('and that the agent was given once before needs to stand there twice', async () => {
    const one = await takenOver({ workMs: 50 });
    await paste(one.recorder, 'go on with the next part');
    await one.recorder.press('Enter');
    await until('it was taken', () => one.recorder.submissions().length === 1);
    expect(await send(one, 'go on with the next part', 'typed', 1)).toMatchObject({ outcome: 'unconfirmed' });
    expect(one.recorder.submissions()).toHaveLength(1);
  });

  it('and that is nowhere is unconfirmed with the screen, and never typed again', async () => {
    const one = await takenOver();
    expect(await send(one, 'where did it go', 'typed')).toMatchObject({
      outcome: 'unconfirmed',
      screen: expect.stringContaining('ready · ?') as string,
    });
    expect(one.recorder.input().toString()).toBe('');
  });

  it('is not submitted together with what a person wrote', async () => {
    const one = await takenOver();
    await paste(one.recorder, 'please do it now');
    await one.recorder.type(' or later');
    await until('it stands there', async () => (await one.agent.screen()).includes('or later'));
    expect(await send(one, 'please do it now', 'typed')).toMatchObject({ outcome: 'unconfirmed' });
    expect(one.recorder.submissions()).toEqual([]);
  });

  it('waits behind a dialog, without a key', async () => {
    const clock = createSkipClock();
    const one = await takenOver({ workMs: 50 }, clock);
    await paste(one.recorder, 'please do it now');
    await until('it is drawn', async () => (await one.agent.screen()).includes('please do it now'));
    one.recorder.command({ do: 'dialog', kind: 'permission', says: 'may I' });
    await until('the dialog is there', async () => (await one.agent.screen()).includes('may I'));
    const delivery = send(one, 'please do it now', 'typed');
    await clock.pass(20_000, () => one.agent.screen());
    expect(one.recorder.input('dialog').toString()).toBe('');
    one.recorder.command({ do: 'closeDialog' });
    expect(await delivery).toMatchObject({ outcome: 'submitted' });
    expect(one.recorder.submissions()).toEqual(['please do it now']);
  });

  it('is proven from outside as any other', async () => {
    const one = await takenOver();
    const confirmation = Promise.resolve({ evidence: 'protocol', how: 'its hook said so' } as const);
    const observer = { held: () => undefined, typed: () => undefined };
    const earlier = { state: 'typed', takenBefore: 0 } as const;
    expect(await one.agent.send('unseen', { observer, confirmation, earlier })).toEqual({
      outcome: 'submitted',
      evidence: 'protocol',
      how: 'its hook said so',
    });
  });
});

describe('a text that an earlier supervisor may have typed', () => {
  it('is typed where the composer is empty', async () => {
    const one = await takenOver({ workMs: 50 });
    expect(await send(one, 'one\ntwo', 'perhaps')).toMatchObject({ outcome: 'submitted' });
    expect(one.recorder.submissions()).toEqual(['one\ntwo']);
    expect([pastes(one.recorder), one.typed]).toEqual([1, [7]]);
  });

  it('is not typed again where it stands in the composer', async () => {
    const one = await takenOver({ workMs: 50 });
    await paste(one.recorder, 'one\ntwo');
    expect(await send(one, 'one\ntwo', 'perhaps')).toMatchObject({ outcome: 'submitted' });
    expect(one.recorder.submissions()).toEqual(['one\ntwo']);
    expect([pastes(one.recorder), one.typed]).toEqual([1, [7]]);
  });
});
