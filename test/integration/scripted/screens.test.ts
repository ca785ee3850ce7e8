import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Reading } from '../../../src/backends/tmux/screen.js';
import { compiledRoot } from '../../support/compiled.js';
import { Rig, type StartOptions } from './rig.js';

/** Captures for the recognisers' own tests; `UPDATE_FIXTURES=1` writes them anew. */
const FIXTURES = fileURLToPath(new URL('../../fixtures/screens/scripted/1/', import.meta.url));

let rig: Rig;
beforeAll(() => compiledRoot(), 180_000);
beforeEach(() => {
  rig = new Rig();
});
afterEach(() => rig.close());

/** The live screen is read as `expected`; the kept capture of it holds the same kind of rows. */
async function shows(name: string, expected: Pick<Reading, 'state' | 'kind' | 'composer'>): Promise<void> {
  await rig.until(`the screen shows "${name}"`, async () => {
    const { state, kind, composer } = await rig.reading();
    return JSON.stringify({ state, kind, composer }) === JSON.stringify(expected);
  });
  const path = join(FIXTURES, `${name}.txt`);
  const capture = (await rig.capture()).replaceAll(rig.work, '/home/user/project');
  if (process.env['UPDATE_FIXTURES'] === '1') writeFileSync(path, capture);
  expect(skeleton(capture)).toEqual(skeleton(readFileSync(path, 'utf8')));
}

/** What does not change from run to run: spinner and seconds do. */
function skeleton(capture: string): string[] {
  return capture
    .replace(/[✻✽✶✢] (\w+)… \(\d+s/g, '✻ $1… (0s')
    .split('\n')
    .map((row) => row.trimEnd())
    .filter((row) => row !== '');
}

const SCRIPT = `
settings: { suggestion: 'try: fix the tests' }
workers:
  - contains: work long
    steps: [{ say: 'on it (3s · esc to interrupt)' }, { sleep_until_interrupt: true }]
  - contains: ask
    steps: [{ permission: 'run: rm -rf build' }, { say: thanks }]
  - contains: break
    steps: [{ fail: 'API Error: 500' }]
`;

const NONE = { kind: null, composer: { text: '' } } as const;

async function start(script = SCRIPT, options: StartOptions = {}): Promise<void> {
  await rig.start(script, options);
}

describe('the screen of the scripted agent', () => {
  it('is idle with an empty input box; a dim suggestion in it is no draft', async () => {
    await start();
    await shows('suggestion', { state: 'idle', ...NONE });
    expect((await rig.screen()).rows).toContain('> try: fix the tests');
  });

  it('is idle with an empty input box', async () => {
    await start('workers: []');
    await shows('idle', { state: 'idle', ...NONE });
    expect((await rig.screen()).rows).toContain('>');
  });

  it('shows what a person typed and edited as a draft', async () => {
    await start();
    await rig.untilState('idle');
    await rig.type('helo 漢字 world');
    await rig.key('C-w', 'BSpace', 'Home', 'Right', 'Right', 'Right');
    await rig.type('l');
    await rig.key('End', 'M-Enter');
    await rig.type('second line');
    await shows('draft', { state: 'idle', kind: null, composer: { text: 'hello 漢字\nsecond line' } });
    await rig.key('C-c');
    await shows('suggestion', { state: 'idle', ...NONE });
  });

  it('collapses a long paste to a mark', async () => {
    await start();
    await rig.untilState('idle');
    await rig.type('look: ');
    await rig.paste('line\n'.repeat(12));
    await shows('pasted', {
      state: 'idle',
      kind: null,
      composer: { text: 'look: [Pasted text #1 +12 lines]' },
    });
  });

  it('is working while a turn runs, whatever the transcript says, and keeps what is typed meanwhile', async () => {
    await start();
    await rig.untilState('idle');
    await rig.submit('work long');
    await rig.untilText(/✻ Sleeping|[✽✶✢] Sleeping/);
    await shows('working', { state: 'working', ...NONE });
    await rig.submit('and then this');
    await rig.type('draft');
    await shows('queued', { state: 'working', kind: null, composer: { text: 'draft' } });
    await rig.key('C-c', 'Escape');
    await rig.untilState('idle');
  });

  it('waits for a permission, has no input box then, and takes a digit, not text, as the answer', async () => {
    await start();
    await rig.untilState('idle');
    await rig.submit('ask me');
    await shows('permission', { state: 'waiting', kind: 'permission', composer: null });
    await rig.untilHook('PermissionRequest');
    await rig.paste('yes please\n');
    await rig.type('y');
    expect(rig.outside.hookNames()).not.toContain('Stop');
    await rig.key('1');
    await rig.untilHook('Stop');
    expect(await rig.text()).toMatch(/permission given: run: rm -rf build\n● thanks/);
  });

  it.each([
    ['2', ['2']],
    ['Esc', ['Escape']],
    ['the arrow and Enter', ['Down', 'Enter']],
  ])('takes %s as a refusal: the turn ends', async (_name, keys) => {
    await start();
    await rig.untilState('idle');
    await rig.submit('ask me');
    await rig.untilState('waiting', 'permission');
    await rig.key(...keys);
    await rig.untilHook('Stop');
    expect(await rig.text()).toMatch(/permission refused: run: rm -rf build/);
    expect(await rig.text()).not.toMatch(/● thanks/);
  });

  it('asks for trust first when told to; a blind Enter leaves', async () => {
    await start('settings: { trust_dialog: true }');
    await shows('trust', { state: 'waiting', kind: 'trust', composer: null });
    expect(rig.outside.hooks).toEqual([]);
    await rig.key('Enter');
    expect(await rig.exitStatus()).toBe(1);
    // What never began has no end either.
    expect(rig.outside.hooks).toEqual([]);
  });

  it('goes on when trusted', async () => {
    await start('settings: { trust_dialog: true }');
    await rig.untilState('waiting', 'trust');
    await rig.key('2');
    await rig.untilState('idle');
    await rig.untilHook('SessionStart');
  });

  it('shows a failed turn', async () => {
    await start();
    await rig.untilState('idle');
    await rig.submit('break');
    await shows('failed', { state: 'error', ...NONE });
  });

  it('echoes slowly when told to, and loses nothing', async () => {
    await start('{ settings: { echo_delay_ms: 3000 }, workers: [{ steps: [{ end: true }] }] }');
    await rig.untilState('idle');
    await rig.paste('slow text');
    expect((await rig.reading()).composer).toEqual({ text: '' });
    await rig.until('the echo', async () => (await rig.reading()).composer?.text === 'slow text');
    await rig.key('Enter');
    await rig.untilHook('Stop');
    expect(rig.outside.hooks.find((body) => body['prompt'] !== undefined)?.['prompt']).toBe('slow text');
  });

  it('stays readable when the pane changes its size in the middle of a turn', async () => {
    await start(
      'workers: [{ steps: [{ repeat: 40, steps: [{ print: "row {{index}} 漢字 and some more text to wrap in a narrow pane" }] }, { sleep_until_interrupt: true }] }]',
      { columns: 100, rows: 30 },
    );
    await rig.untilState('idle');
    await rig.submit('go');
    await rig.untilText(/row 40/);
    for (const [columns, rows] of [
      ['80', '20'],
      ['40', '12'],
      ['120', '40'],
    ] as const) {
      await rig.tmux('resize-window', '-t', 'rig', '-x', columns, '-y', rows);
      await rig.until('it is drawn anew', async () => {
        const screen = await rig.screen();
        const last = screen.rows.findLastIndex((row) => row !== '');
        const rules = screen.rows.filter((row) => /^─+$/.test(row)).length;
        return (
          rules === 2 &&
          screen.rows[last]?.startsWith('  working') === true &&
          (await rig.reading()).state === 'working'
        );
      });
      expect((await rig.screen()).rows.join('')).toContain('row 40');
    }
  });

  it('never leaves the main screen, so that what it said stays in the scrollback', async () => {
    await start('workers: [{ steps: [{ repeat: 100, steps: [{ print: "row {{index}}" }] }] }]');
    await rig.untilState('idle');
    await rig.submit('go');
    await rig.untilHook('Stop');
    await rig.untilState('idle');
    expect((await rig.tmux('display-message', '-p', '-t', 'rig', '#{alternate_on}')).trim()).toBe('0');
    const rows = (await rig.text()).split('\n').filter((line) => line.startsWith('row '));
    expect(rows).toEqual(Array.from({ length: 100 }, (_, index) => `row ${index + 1}`));
  });
});
