import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { InteractiveLaunch } from '../../../src/agents/contract.js';
import { scripted } from '../../../src/agents/scripted.js';
import { parseScreen, readScreen } from '../../../src/backends/tmux/screen.js';

const FOLDER = fileURLToPath(new URL('../../fixtures/screens/scripted/1/', import.meta.url));
const rules = (scripted.interactive as InteractiveLaunch).screen;

/** Captures of real panes; the integration test that made them keeps them true. */
const EXPECTED: Readonly<Record<string, unknown>> = {
  draft: { state: 'idle', kind: null, composer: { text: 'hello 漢字\nsecond line' } },
  failed: { state: 'error', kind: null, composer: { text: '' } },
  idle: { state: 'idle', kind: null, composer: { text: '' } },
  pasted: { state: 'idle', kind: null, composer: { text: 'look: [Pasted text #1 +12 lines]' } },
  permission: { state: 'waiting', kind: 'permission', composer: null },
  queued: { state: 'working', kind: null, composer: { text: 'draft' } },
  suggestion: { state: 'idle', kind: null, composer: { text: '' } },
  trust: { state: 'waiting', kind: 'trust', composer: null },
  working: { state: 'working', kind: null, composer: { text: '' } },
};

describe('the screen rules of the scripted agent', () => {
  it('have a capture for every case', () => {
    expect(readdirSync(FOLDER).sort()).toEqual(Object.keys(EXPECTED).map((name) => `${name}.txt`));
  });

  it.each(Object.entries(EXPECTED))('read the capture "%s"', (name, expected) => {
    const lines = readFileSync(`${FOLDER}${name}.txt`, 'utf8').split('\n');
    const { state, kind, composer } = readScreen(rules, parseScreen(lines, { row: 0, column: 0 }));
    expect({ state, kind, composer }).toEqual(expected);
  });

  it('know nothing of another program, nor of an empty screen', () => {
    for (const lines of [['$ ls', 'a.txt', '$ '], ['  ready for anything'], ['']]) {
      expect(readScreen(rules, parseScreen(lines, { row: 0, column: 0 })).state).toBe('unknown');
    }
  });

  it('are not deceived by a transcript or a draft that looks like another state', () => {
    const rule = '─'.repeat(78);
    const lines = [
      '● Do you want to proceed?',
      '  1 yes · 2 no · esc refuses',
      '',
      rule,
      '> a',
      '    working · esc to interrupt · x',
      rule,
      '  ready · worker · x',
    ];
    expect(readScreen(rules, parseScreen(lines, { row: 0, column: 0 }))).toMatchObject({ state: 'idle' });
  });
});
