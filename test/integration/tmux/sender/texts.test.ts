import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createRig, type Recorder, type Rig } from '../../../support/recorder/rig.js';
import {
  arrivesAs,
  CONTROLS,
  KEY_NAMES,
  LINES,
  SEMICOLONS,
  SHELL_TEXTS,
  textOfSize,
  TORTURE_TEXTS,
  UNICODE,
  type TortureText,
} from '../../../support/torture-texts.js';

let rig: Rig;
let recorder: Recorder;
let sent: string[];

async function startOne(): Promise<void> {
  rig = await createRig();
  recorder = await rig.start({ workMs: 20 });
  sent = [];
  await recorder.agent.ready();
}

/** Every text is followed by the whole history: a text that is sent twice, split or left behind shows at the next one. */
async function arrives(entry: TortureText): Promise<void> {
  const delivery = await recorder.send(entry.text).delivery;
  sent.push(arrivesAs(entry));
  const submissions = recorder.submissions();
  expect({
    name: entry.name,
    delivery,
    submissions: submissions.length,
    equal: submissions.join('\u0000') === sent.join('\u0000'),
  }).toEqual({
    name: entry.name,
    delivery: expect.objectContaining({ outcome: 'submitted' }) as unknown,
    submissions: sent.length,
    equal: true,
  });
}

const groups: readonly [string, readonly TortureText[]][] = [
  ['[C-3] [50] texts of several lines arrive as one submission', LINES],
  ['[C-4] semicolons arrive', SEMICOLONS],
  ['[C-5] [50] texts that look like options, keys and formats are literal', KEY_NAMES],
  ['[C-6] nothing in a text is run or expanded', SHELL_TEXTS],
  ['texts of all scripts arrive', UNICODE],
  ['control bytes are taken out of a text', CONTROLS],
];

describe.each(groups)('%s', (_title, entries) => {
  beforeAll(startOne);
  afterAll(() => rig.close());

  it.each(entries)('$name', arrives);

  it('and no key but the submit key was pressed, nothing typed stayed behind', () => {
    const pastes = sent.map((text) => `\u001b[200~${text}\u001b[201~\r`).join('');
    expect(recorder.input().toString('utf8')).toBe(pastes);
  });
});

describe('[C-7] texts of every size arrive whole', () => {
  beforeAll(startOne);
  afterAll(() => rig.close());

  it.each([10, 1_000, 4_200, 8_192, 8_193, 15_900, 17_000, 130_000, 1_000_000])('%i bytes', async (size) => {
    await arrives({ name: '', text: textOfSize(size) });
    expect(rig.bufferFiles()).toEqual([]);
  });

  it('one line of 20000 bytes', async () => {
    await arrives({ name: '', text: 'word '.repeat(4_000).trim() });
  });

  it('and no buffer of ours is left in tmux', async () => {
    expect(await rig.client.command('list-buffers')).toEqual([]);
  });
});

describe.each(
  ['bash', 'dash', 'zsh', 'fish'].map((name) => `/bin/${name}`).filter((path) => existsSync(path)),
)('[C-6] with SHELL=%s the whole table arrives', (path) => {
  it('byte for byte, and nothing was run', async () => {
    rig = await createRig({ env: { SHELL: path }, config: `set -g default-shell ${path}` });
    try {
      recorder = await rig.start({ workMs: 0 });
      sent = [];
      await recorder.agent.ready();
      for (const entry of TORTURE_TEXTS) await arrives(entry);
      expect(existsSync(join(process.cwd(), 'X')) || existsSync(join(rig.sandbox.home, 'X'))).toBe(false);
    } finally {
      await rig.close();
    }
  });
});
