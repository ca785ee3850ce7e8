import { describe, expect, it } from 'vitest';
import { judge, type Verdict } from '../../../src/backends/tmux/gate.js';
import type { Look } from '../../../src/backends/tmux/pane-view.js';
import type { Reading } from '../../../src/backends/tmux/screen.js';

const idle: Reading = {
  state: 'idle',
  kind: null,
  text: '',
  shown: '',
  dialog: null,
  composer: { text: '' },
};
const working: Reading = { ...idle, state: 'working' };
const dialog: Reading = {
  state: 'waiting',
  kind: 'permission',
  text: 'Sure?',
  shown: 'Sure?',
  dialog: null,
  composer: null,
};
const unknown: Reading = { ...idle, state: 'unknown', composer: null };
const draft: Reading = { ...idle, composer: { text: 'abc' } };

interface Case {
  readonly now?: Reading;
  readonly settled?: Reading | null;
  readonly ready?: boolean;
  readonly steers?: boolean;
  readonly facts?: Partial<Look>;
}

function verdict({ now = idle, settled = now, ready = true, steers = false, facts = {} }: Case): Verdict {
  const screen = { rows: [], solid: [], cursor: { row: 0, column: 0 } };
  const look: Look = {
    dead: false,
    inMode: false,
    inputOff: false,
    alternate: false,
    keptPasteMode: null,
    tty: '',
    screen,
    reading: now,
    ...facts,
  };
  return judge({ look, settled, ready, steers });
}

const held = (reason: string) => ({ is: 'held', reason });

describe('whether text may be typed', () => {
  it.each<[string, Case, object]>([
    ['an idle agent', {}, { is: 'open' }],
    ['an agent after a failed turn', { now: { ...idle, state: 'error', text: 'oops' } }, { is: 'open' }],
    ['a screen that has not stood yet', { settled: null }, { is: 'settling' }],
    ['a dialog', { now: dialog }, held('dialog')],
    ['a dialog that came this instant', { now: dialog, settled: idle }, held('dialog')],
    ['a dialog that seems to have gone this instant', { now: idle, settled: dialog }, held('dialog')],
    ['a dialog before it was ever ready', { now: dialog, ready: false }, held('dialog')],
    ['a draft', { now: draft }, held('human_draft')],
    ['a draft that came this instant', { now: draft, settled: idle }, held('human_draft')],
    ['blanks in the composer', { now: { ...idle, composer: { text: ' \n' } } }, { is: 'open' }],
    ['a working agent', { now: working }, held('working')],
    ['a working agent that may be steered', { now: working, steers: true }, { is: 'open' }],
    [
      'a draft in a working agent that may be steered',
      { now: { ...draft, state: 'working' }, steers: true },
      held('human_draft'),
    ],
    ['an unknown screen', { now: unknown }, held('unknown_screen')],
    ['an unknown screen at the start', { now: unknown, ready: false }, held('not_ready')],
    ['an idle screen that was not believed yet', { ready: false }, held('not_ready')],
    ['an idle screen without a composer', { now: { ...idle, composer: null } }, held('unknown_screen')],
    ['copy-mode', { facts: { inMode: true } }, held('copy_mode')],
  ])('%s', (_name, given, expected) => expect(verdict(given)).toEqual(expected));

  it.each<[string, Partial<Look>]>([
    ['a dead pane', { dead: true, inMode: true }],
    ['a pane that takes no input', { inputOff: true }],
  ])('%s is refused', (_name, facts) => expect(verdict({ facts }).is).toBe('refused'));
});
