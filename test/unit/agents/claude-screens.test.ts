import { describe, expect, it } from 'vitest';
import type { InteractiveLaunch } from '../../../src/agents/contract.js';
import { claude } from '../../../src/agents/claude.js';
import { parseScreen, readScreen } from '../../../src/backends/tmux/screen.js';
import { capturesOf, idle, waiting, working } from '../../support/screens.js';

const { screen: rules } = claude.interactive as InteractiveLaunch;
const captures = capturesOf('claude', rules.recordedVersion);
/** Captures of real panes with styles; the real-agent tests prove that they are still what it draws. */
const EXPECTED: Readonly<Record<string, unknown>> = {
  'api-key': waiting('login'),
  background: idle(),
  bypass: waiting('trust'),
  failed: idle(),
  idle: idle(),
  interrupted: idle(),
  pasted: idle('[Pasted text #1 +39 lines]'),
  permission: waiting('permission'),
  question: waiting('question'),
  queued: working(),
  retry: working(),
  'shell-mode': idle('!ls'),
  'slash-menu': idle('/he'),
  start: idle(),
  'start-bypass': idle(),
  thinking: working(),
  trust: waiting('trust'),
  'trust-yes': waiting('trust'),
  working: working(),
  'working-draft': working('a draft'),
};

describe('the screen rules of Claude Code', () => {
  it('have a capture for every case', () => {
    expect(captures.names()).toEqual(Object.keys(EXPECTED).sort());
  });

  it.each(Object.entries(EXPECTED))('read the capture "%s"', (name, expected) => {
    const { state, kind, composer } = readScreen(rules, captures.screen(name));
    expect({ state, kind, composer }).toEqual(expected);
  });

  it.each([
    [
      'trust',
      [
        ['No, exit', true],
        ['Yes, I trust this folder', false],
      ],
    ],
    [
      'trust-yes',
      [
        ['No, exit', false],
        ['Yes, I trust this folder', true],
      ],
    ],
    [
      'bypass',
      [
        ['No, exit', true],
        ['Yes, I accept', false],
      ],
    ],
    [
      'api-key',
      [
        ['Yes', false],
        ['No (recommended)', true],
      ],
    ],
    [
      'question',
      [
        ['Red', true],
        ['Blue', false],
        ['Chat about this', false, 4],
      ],
    ],
    [
      'permission',
      [
        ['Yes', true],
        ['Yes, and always allow access to /work-tree from this project', false],
        ['Yes, and switch to auto mode · auto mode handles these prompts for you', false],
        ['No', false],
      ],
    ],
  ] as const)('find what can be chosen on "%s"', (name, expected) => {
    const screen = captures.screen(name);
    const tail = screen.rows.join('\n').trimEnd();
    const rule = rules.states.find(({ when }) => when.test(tail));
    expect(rule?.dialog?.choices(screen)).toEqual(
      expected.map(([label, selected, number], index) => ({ number: number ?? index + 1, label, selected })),
    );
  });

  it('are not deceived by what the transcript or a draft shows', () => {
    const rule = '─'.repeat(90);
    const above = [' Do you want to proceed?', ' ❯ 1. Yes', '   2. No', '', ' Esc to cancel · Tab to amend'];
    const composer = [rule, '❯ Enter to confirm · Esc to cancel', rule, '  ⏸ manual mode on'];
    const screen = parseScreen([...above, ...composer], { row: 0, column: 0 });
    expect(readScreen(rules, screen)).toMatchObject(idle('Enter to confirm · Esc to cancel'));
  });

  it('know nothing of another program, nor of an empty screen', () => {
    for (const lines of [['$ ls', 'a.txt', '$ '], ['❯ ls', 'a.txt', '❯ '], ['']]) {
      expect(readScreen(rules, parseScreen(lines, { row: 0, column: 0 })).state).toBe('unknown');
    }
  });
});

describe('a dialog of Claude Code that takes keys as text', () => {
  const choicesOf = (ruleKind: string, ...rows: string[]) => {
    const screen = { rows, solid: rows, cursor: { row: 0, column: 0 } };
    const tail = `\n${rows.join('\n')}`;
    const rule = rules.states.find(({ when }) => when.test(tail));
    expect(rule?.kind).toBe(ruleKind);
    return rule?.dialog?.choices(screen);
  };

  it('is for the person in the pane: a permission that is being amended', () => {
    const rows = [' Do you want to proceed?', ' ❯ 1. Yes, please only on monday', '   2. No'];
    expect(choicesOf('permission', ...rows, ' Esc to cancel · Tab to amend')).toEqual([]);
  });

  it('is for the person in the pane: a question with boxes to tick', () => {
    const rows = ['Which colours?', '❯ 1. [ ] Red', '  2. [✔] Blue', '  3. Type something.'];
    expect(choicesOf('question', ...rows, 'Enter to select · Esc to cancel')).toEqual([]);
  });

  it.each([
    ['  2. Blue', '❯ 3. Type something.'],
    ['  2. Blue', '❯ 3. 2'],
  ])('is for the person in the pane: a question whose field is in use (%s, %s)', (...rest) => {
    expect(
      choicesOf('question', 'Which colour?', '  1. Red', ...rest, 'Enter to select · Esc to cancel'),
    ).toEqual([]);
  });
});

describe('an empty composer of Claude Code that suggests something', () => {
  const rule = '─'.repeat(40);
  const composerOf = (text: string) => {
    const rows = ['● API Error: 529 Overloaded.', '', rule, `❯ ${text}`, rule, '  ⏸ manual mode on'];
    return rules.composer({ rows, solid: rows, cursor: { row: 5, column: 0 } });
  };

  it.each(['Resend your message to try again', 'Run /rewind to go back', 'Try "how do I log an error?"'])(
    'is empty also where there are no colours: %s',
    (hint) => expect(composerOf(hint)).toEqual({ text: '' }),
  );

  it('is not when a person has typed more than that', () => {
    const text = 'Resend your message to try again, please';
    expect(composerOf(text)).toEqual({ text });
  });
});
