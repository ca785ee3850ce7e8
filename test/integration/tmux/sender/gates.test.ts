import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createSkipClock } from '../../../support/skip-clock.js';
import { createRig, until, type Persona, type Recorder, type Rig } from '../../../support/recorder/rig.js';

let rig: Rig;
const clock = createSkipClock();
beforeAll(async () => {
  rig = await createRig({ clock });
});
afterAll(() => rig.close());

const started = async (persona: Persona = {}, launch: Parameters<Rig['start']>[1] = {}) => {
  const recorder = await rig.start(persona, launch);
  await recorder.agent.ready();
  return recorder;
};

const shows = (recorder: Recorder, text: string) =>
  until(`the screen shows ${text}`, async () => (await recorder.agent.screen()).includes(text));

/** A terminal that shows the session: a client of this server inside one of its own panes. */
async function attachViewer(): Promise<{ leave(): Promise<void> }> {
  const [paneId = ''] = await rig.client.command(
    'new-window',
    '-d',
    '-P',
    '-F',
    '#{pane_id}',
    'env',
    '-u',
    'TMUX',
    'tmux',
    '-L',
    'rig',
    'attach',
    '-t',
    'rig',
  );
  const viewers = async () =>
    (await rig.client.command('list-clients', '-F', '#{client_control_mode}')).includes('0');
  await until('the viewer is there', viewers);
  return {
    async leave() {
      await rig.client.command('kill-pane', '-t', paneId);
      await until('the viewer is gone', async () => !(await viewers()));
    },
  };
}

/** What was typed and submitted as one text, nothing before, between or after it. */
const typed = (text: string) => `\u001b[200~${text}\u001b[201~\r`;

describe('[C-8] a pane in a mode gets the text nevertheless', () => {
  const modes: readonly [string, readonly string[]][] = [
    ['copy-mode', ['copy-mode']],
    ['copy-mode scrolled up', ['copy-mode', '-u']],
    ['a tree of sessions', ['choose-tree']],
    ['a clock', ['clock-mode']],
  ];
  it.each(modes.flatMap(([name, command]) => ['vi', 'emacs'].map((keys) => ({ name, keys, command }))))(
    '$name, $keys keys, nobody looking',
    async ({ keys, command }) => {
      const recorder = await started();
      await rig.client.command('set-option', '-g', 'mode-keys', keys);
      await rig.client.command(...command, '-t', recorder.paneId);
      const sending = recorder.send('through the mode');
      expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
      expect(recorder.input().toString()).toBe(typed('through the mode'));
      expect(sending.held).toEqual([]);
    },
  );

  it('is held while a person looks through it, and comes when they leave', async () => {
    const recorder = await started();
    const viewer = await attachViewer();
    await rig.client.command('copy-mode', '-u', '-t', recorder.paneId);
    const sending = recorder.send('after your reading');
    await until('it is held', () => sending.held.length > 0);
    expect(sending.held).toEqual(['copy_mode']);
    clock.skip(30_000);
    expect(recorder.input().toString()).toBe('');
    await rig.client.command('send-keys', '-X', '-t', recorder.paneId, 'cancel');
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    await viewer.leave();
  });

  it('is held no longer than a minute for a person who left it there', async () => {
    const recorder = await started();
    const viewer = await attachViewer();
    await rig.client.command('copy-mode', '-u', '-t', recorder.paneId);
    const sending = recorder.send('long enough');
    await until('it is held', () => sending.held.length > 0);
    clock.skip(61_000);
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual(['long enough']);
    await viewer.leave();
  });

  it('entered between the paste and Enter', async () => {
    const recorder = await started({ echoDelayMs: 200 });
    const sending = recorder.send('on its way');
    await until('it is typed', () => sending.typed.length === 1);
    await rig.client.command('copy-mode', '-t', recorder.paneId);
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.input().toString()).toBe(typed('on its way'));
  });
});

describe('[C-9] what a person has typed', () => {
  it('is never mixed with our text, which is delivered when it is gone', async () => {
    const recorder = await started();
    await recorder.type('abc');
    await shows(recorder, '> abc');
    const sending = recorder.send('from the lead');
    await until('it is held', () => sending.held.length > 0);
    await recorder.type('def');
    expect(sending.held).toEqual(['human_draft']);
    expect(recorder.submissions()).toEqual([]);
    await recorder.press('C-u');
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual(['from the lead']);
  });

  it('is submitted by the person, and ours comes after that turn', async () => {
    const recorder = await started({ workMs: 400 });
    await recorder.type('my own question');
    await shows(recorder, '> my own question');
    const sending = recorder.send('from the lead');
    await until('it is held', () => sending.held.length > 0);
    await recorder.press('Enter');
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual(['my own question', 'from the lead']);
    expect(recorder.input('working').toString()).toBe('');
  });

  it('in the moment after our paste keeps Enter back', async () => {
    const recorder = await started(
      {},
      { keys: { submit: 'Enter', interrupt: 'Escape', redrawCapMs: 800, submitDelayMs: 800 } },
    );
    const sending = recorder.send('from the lead');
    await until('it is typed', () => sending.typed.length === 1);
    await recorder.type(' and me');
    await shows(recorder, '> from the lead and me');
    await clock.pass(12_000, () => recorder.agent.screen());
    expect(await sending.delivery).toMatchObject({
      outcome: 'unconfirmed',
      screen: expect.stringContaining('> from the lead and me') as unknown,
    });
    expect(recorder.submissions()).toEqual([]);
  });

  it('is told from a suggestion, which does not hold anything back', async () => {
    const recorder = await started({ suggestion: 'Try "fix the failing test"' });
    const sending = recorder.send('no draft here');
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(sending.held).toEqual([]);
    expect(recorder.submissions()).toEqual(['no draft here']);
  });
});

describe('[C-10] a dialog', () => {
  it('gets no key at all, however long it stands; the text is delivered after it', async () => {
    const recorder = await started({ animate: true });
    recorder.command({ do: 'dialog', kind: 'permission', says: 'Run rm -rf build?' });
    await until('it is seen', () => recorder.states().includes('waiting'));
    const sending = recorder.send('a nudge');
    const another = recorder.send('another');
    await until('it is held', () => sending.held.length > 0);
    await clock.pass(60_000, () => recorder.agent.screen());
    expect(sending.held).toEqual(['dialog']);
    expect(recorder.input().toString()).toBe('');
    recorder.command({ do: 'closeDialog' });
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(await another.delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.input('dialog').toString()).toBe('');
    expect(recorder.submissions()).toEqual(['a nudge', 'another']);
  });

  it.each([
    ['in place of the composer', {}],
    ['below the composer, which still shows the text', { dialogBelowComposer: true }],
  ])('%s, that comes between the paste and Enter is not answered by Enter', async (_place, persona) => {
    const recorder = await started(persona, {
      keys: { submit: 'Enter', interrupt: 'Escape', redrawCapMs: 800, submitDelayMs: 800 },
    });
    const sending = recorder.send('bad moment');
    await until('it is typed', () => sending.typed.length === 1);
    recorder.command({ do: 'dialog', kind: 'permission', says: 'Now of all times?' });
    await until('the dialog is seen', () => recorder.states().includes('waiting'));
    await clock.pass(12_000, () => recorder.agent.screen());
    expect(await sending.delivery).toMatchObject({
      outcome: 'unconfirmed',
      screen: expect.stringContaining('Now of all times?') as unknown,
    });
    expect(recorder.input().toString()).toBe('\u001b[200~bad moment\u001b[201~');
  });

  it.each([
    ['in place of the composer', {}],
    ['below the composer, which still shows the text', { dialogBelowComposer: true }],
  ])('%s, that comes while Enter is swallowed stops the repeats', async (_place, persona) => {
    const recorder = await started({ swallow: 1_000, ...persona });
    const sending = recorder.send('swallowed');
    await until('Enter is pressed', () => recorder.input().includes(0x0d));
    recorder.command({ do: 'dialog', kind: 'permission', says: 'Sure?' });
    await until('it is seen', () => recorder.states().includes('waiting'));
    const before = recorder.input().toString();
    await clock.pass(12_000, () => recorder.agent.screen());
    expect(await sending.delivery).toMatchObject({ outcome: 'unconfirmed' });
    expect(recorder.input().toString()).toBe(before);
    expect(recorder.input('dialog').toString()).toBe('');
  });

  it('that the turn itself brings up at once still counts as submitted', async () => {
    const recorder = await started({ workMs: 0 });
    recorder.command({ do: 'print', text: 'an older answer' });
    const sending = recorder.send('may I delete it all');
    await until('it is submitted', () => recorder.submissions().length === 1);
    recorder.command({ do: 'dialog', kind: 'permission', says: 'Delete it all?' });
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.input('dialog').toString()).toBe('');
  });
});

describe('[C-14] an agent that is not there yet, or no more', () => {
  it('gets nothing while it starts, and its text once it is ready', async () => {
    const recorder = await rig.start({ startDelayMs: 1_500 });
    const sending = recorder.send('the first prompt');
    await until('it is held', () => sending.held.length > 0);
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(sending.held).toEqual(['not_ready']);
    expect(recorder.input('boot').toString()).toBe('');
    expect(recorder.submissions()).toEqual(['the first prompt']);
  });

  it('waits behind a trust dialog at the start', async () => {
    const recorder = await rig.start({
      dialogAtStart: { kind: 'trust', says: 'Trust this folder?' },
      dialogAnswers: true,
    });
    const sending = recorder.send('the first prompt');
    const ready = recorder.agent.ready().catch((error: unknown) => error);
    await until('it is told', () => recorder.states().includes('waiting'));
    clock.skip(60_000);
    await until('the text is held for it', () => sending.held.at(-1) === 'dialog');
    expect(recorder.input().toString()).toBe('');
    await recorder.press('Enter');
    expect(await ready).toBeUndefined();
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
    expect(recorder.input('dialog').toString()).toBe('\r');
  });

  const isDead = async (recorder: Recorder) =>
    (await rig.client.command('display-message', '-p', '-t', recorder.paneId, '#{pane_dead}'))[0] === '1';

  it('is refused when it exits at once', async () => {
    const recorder = await rig.start({ exitAtOnce: { says: 'Please log in first', status: 3 } });
    const sending = recorder.send('touch X; rm -rf /');
    const ready = recorder.agent.ready().catch((error: unknown) => error);
    await until('its pane is dead', () => isDead(recorder));
    await recorder.agent.markEnded(3);
    expect(await sending.delivery).toMatchObject({ outcome: 'refused' });
    expect(sending.typed).toEqual([]);
    expect(await ready).toMatchObject({ code: 'AGENT_EXITED', params: { agent: 'w01', status: 3 } });
    expect(await recorder.send('after its end').delivery).toEqual({
      outcome: 'refused',
      reason: 'the agent has ended (status 3)',
    });
    expect(await recorder.agent.read(5)).toContain('Please log in first');
  });

  it('is refused when its pane is dead, before anybody said so', async () => {
    const recorder = await started();
    recorder.command({ do: 'exit', status: 1 });
    await until('its pane is dead', () => isDead(recorder));
    expect(await recorder.send('anybody').delivery).toEqual({
      outcome: 'refused',
      reason: 'its program has ended',
    });
  });

  it('never types into a shell that stands in its place', async () => {
    const directory = rig.sandbox.folder('shell');
    const program = await rig.startProgram(['sh', '-c', `cd ${directory}; exec sh -i`]);
    const sending = program.send('touch X');
    await until('it is held', () => sending.held.length > 0);
    program.agent.close();
    expect(await sending.delivery).toMatchObject({ outcome: 'refused' });
    expect(sending.held).toEqual(['not_ready']);
    expect(existsSync(join(directory, 'X'))).toBe(false);
    expect(await program.agent.screen()).not.toContain('touch');
  });

  it('holds a text while the screen says nothing we know', async () => {
    const recorder = await started();
    recorder.command({ do: 'phase', phase: 'odd' });
    await until('it is seen', () => recorder.states().at(-1) === 'unknown');
    const sending = recorder.send('what is this');
    await until('it is held', () => sending.held.length > 0);
    expect(sending.held).toEqual(['unknown_screen']);
    recorder.command({ do: 'phase', phase: 'idle' });
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
  });

  it('is refused when the input of its pane is switched off', async () => {
    const recorder = await started();
    await rig.client.command('select-pane', '-d', '-t', recorder.paneId);
    expect(await recorder.send('hello').delivery).toEqual({
      outcome: 'refused',
      reason: "somebody switched the pane's input off",
    });
  });
});

describe('[C-15] a working agent', () => {
  it('gets texts after its turn, one by one, in order', async () => {
    const recorder = await started({ workMs: 500 });
    const sendings = ['one', 'two', 'three', 'four'].map((text) => recorder.send(text));
    const outcomes = await Promise.all(sendings.map(({ delivery }) => delivery));
    expect(outcomes.map(({ outcome }) => outcome)).toEqual([
      'submitted',
      'submitted',
      'submitted',
      'submitted',
    ]);
    expect(recorder.submissions()).toEqual(['one', 'two', 'three', 'four']);
    expect(sendings.map(({ held }) => held)).toEqual([[], ['working'], ['working'], ['working']]);
    expect(recorder.input('working').toString()).toBe('');
  });

  it('gets a text within its turn where it may be steered', async () => {
    const recorder = await started({ workMs: 3_000 }, { steers: true });
    await recorder.send('a long task').delivery;
    await until('it works', () => recorder.states().includes('working'));
    const sending = recorder.send('one more thing');
    expect(await sending.delivery).toMatchObject({
      outcome: 'submitted',
      how: 'the composer emptied while a turn runs',
    });
    expect(sending.held).toEqual([]);
    expect(recorder.input('working').toString()).toBe(typed('one more thing'));
  });
});
