import { describe, expect, it } from 'vitest';
import { codex } from '../../../src/agents/codex.js';
import type { InteractiveLaunch } from '../../../src/agents/contract.js';
import { parseScreen, readScreen } from '../../../src/backends/tmux/screen.js';
import { capturesOf, idle, waiting, working } from '../../support/screens.js';

const { screen: rules } = codex.interactive as InteractiveLaunch;
const captures = capturesOf('codex', rules.recordedVersion);
const failed = (kind: string | null = null) => ({ state: 'error', kind, composer: { text: '' } });

/** Captures of real panes with styles; the real-agent tests prove that they are still what it draws. */
const EXPECTED: Readonly<Record<string, unknown>> = {
  draft: idle('be slow'),
  'draft-list': idle('1. first · thing\n2. second'),
  failed: failed(),
  'failed-login': failed('login'),
  'file-menu': idle('look at @READ'),
  // It asks nobody in the pane for as long as our hook has not answered.
  'hook-asked': working(),
  'hooks-review': waiting('trust'),
  idle: idle(),
  interrupted: idle(),
  'interrupted-background': idle(),
  login: waiting('login'),
  pasted: idle('[Pasted Content 3000 chars]'),
  permission: waiting('permission'),
  'permission-edit': waiting('permission'),
  'permission-tool': waiting('permission'),
  question: waiting('question'),
  queued: working(),
  // An answer that quotes the status of a working agent.
  quoted: idle(),
  retry: working(),
  running: working(),
  'shell-mode': idle('!ls'),
  'slash-menu': idle('/mo'),
  thinking: working(),
  trust: waiting('trust'),
  update: waiting('dialog'),
  working: working(),
};

describe('the screen rules of Codex', () => {
  it('have a capture for every case', () => {
    expect(captures.names()).toEqual(Object.keys(EXPECTED).sort());
  });

  it.each(Object.entries(EXPECTED))('read the capture "%s"', (name, expected) => {
    const { state, kind, composer } = readScreen(rules, captures.screen(name));
    expect({ state, kind, composer }).toEqual(expected);
  });

  it('tell of a failure what it says, and nothing that stood there before', () => {
    expect(readScreen(rules, captures.screen('failed-login')).text).toBe(
      '■ unexpected status 401 Unauthorized: bad key, url: http://127.0.0.1:39991/v1/responses',
    );
  });

  it.each([
    ['■ You’ve hit your usage limit. Try again at 3:00 PM.', 'quota'],
    ['■ exceeded retry limit, last status: 429 Too Many Requests', 'quota'],
    ['■ Your access token could not be refreshed. Please log out and sign in again.', 'login'],
    ['■ stream disconnected before completion', null],
  ])('know who can mend "%s"', (row, kind) => {
    const rows = captures.rows('failed-login').map((line) => (line.includes('■') ? row : line));
    expect(readScreen(rules, parseScreen(rows, { row: 0, column: 0 }))).toMatchObject({
      state: 'error',
      kind,
      text: row,
    });
  });

  it('take a failure for over once something else was sent', () => {
    const rows = captures
      .rows('thinking')
      .flatMap((line) => (line.includes('think long') ? ['■ it failed', '', line] : [line]));
    expect(readScreen(rules, parseScreen(rows, { row: 0, column: 0 })).state).toBe('working');
  });

  it.each([
    ['trust', ['Trust and continue', 'Back to Agent Command Center']],
    [
      'hooks-review',
      ['Review hooks', 'Trust all and continue', "Continue without trusting (hooks won't run)"],
    ],
    [
      'permission',
      [
        'Yes, proceed (y)',
        "Yes, and don't ask again for commands that start with `date '+%Y'` (p)",
        'No, and tell Codex what to do differently (esc)',
      ],
    ],
    [
      'permission-tool',
      [
        'Allow  Run the tool and continue',
        'Allow for this session  Run the tool and remember this choice for this session',
        'Always allow  Run the tool and remember this choice for future tool calls',
        'Cancel  Cancel this tool call',
      ],
    ],
    [
      'question',
      ['Red  like fire', 'Blue  like water', 'None of the above  Optionally, add details in notes (tab)'],
    ],
  ])('find what can be chosen in "%s"', (name, labels) => {
    const dialog = readScreen(rules, captures.screen(name)).dialog;
    expect(dialog?.choices.map(({ label }) => label.replace(/ {2,}/, '  '))).toEqual(labels);
    expect(dialog?.choices.map(({ selected }) => selected)).toEqual(labels.map((_, index) => index === 0));
  });

  it.each(['permission', 'permission-edit', 'permission-tool'])(
    'name the dialog in "%s" by itself: what stands above it is not in it, and may blink',
    (name) => {
      const read = (change: (row: string) => string) => {
        const rows = captures.rows(name).map((row) => change(row));
        return readScreen(rules, parseScreen(rows, { row: 0, column: 0 })).dialog;
      };
      const dialog = read((row) => row);
      expect(dialog?.text).toMatch(/(Would you like|Allow the)[^]*(esc to cancel)$/);
      expect(dialog?.text).not.toMatch(/OpenAI Codex|^[•◦]/m);
      const blinked = read((row) => row.replace(/^(.*)•/, '$1◦').replace('Tip:', 'Another tip:'));
      expect(blinked?.promptHash).toBe(dialog?.promptHash);
      const other = read((row) => row.replace(/date|echo|outside/g, 'other'));
      expect(other?.promptHash).not.toBe(dialog?.promptHash);
    },
  );

  it('have no part of a command hide what stands before it', () => {
    const rows = captures
      .rows('permission')
      .flatMap((row) =>
        row.includes('Press enter to confirm') || !row.includes('$ ')
          ? [row]
          : ['  $ rm -rf ~', '  ────────────', '    ls'],
      );
    const { dialog } = readScreen(rules, parseScreen(rows, { row: 0, column: 0 }));
    expect(dialog?.text).toContain('rm -rf ~');
  });

  it.each([
    ['trust', 'Trust and continue'],
    ['hooks-review', "Continue without trusting (hooks won't run)"],
  ])('choose in "%s" what follows from trust in the project', (name, label) => {
    const rule = rules.states.find(({ when }) => when.test(captures.screen(name).rows.join('\n').trimEnd()));
    expect(rule?.dialog?.consented).toMatchObject({ to: 'trust' });
    expect(label).toMatch(rule?.dialog?.consented?.choice ?? /^$/);
  });
});
