import { describe, expect, it } from 'vitest';
import type { DialogChoice, DialogRules, Screen } from '../../../src/agents/contract.js';
import { readDialog } from '../../../src/backends/tmux/dialog.js';
import { parseScreen } from '../../../src/backends/tmux/screen.js';

const RULE = '─'.repeat(60);
const choices = ({ rows }: Screen): DialogChoice[] =>
  rows.flatMap((row) => {
    const [, mark, number, label = ''] = /^\s*(❯)?\s*(\d)\. (.*)$/.exec(row) ?? [];
    return number === undefined ? [] : [{ number: Number(number), label, selected: mark === '❯' }];
  });
const rules: DialogRules = { choices, by: 'digit' };
const read = (rows: readonly string[], more: Partial<DialogRules> = {}) =>
  readDialog({ ...rules, ...more }, parseScreen([...rows], { row: 0, column: 0 }), 12);

const bash = (command: string, more: readonly string[] = []) => [
  '● Yes',
  '✻ Working… (12s · esc to interrupt)',
  RULE,
  ' Bash command',
  '',
  `   ${command}`,
  ...more,
  ' Do you want to proceed?',
  ' ❯ 1. Yes',
  '   2. Yes, and always allow access to tmp/',
  '   3. No',
  '',
  ' Esc to cancel · Tab to amend',
  '',
];
const hash = (rows: readonly string[]) => read(rows)?.promptHash;

describe('a dialog read from a screen', () => {
  it('is what stands below the line above it, whatever was said before', () => {
    expect(read(bash('npm test'))?.text).toBe(
      [
        'Bash command',
        '',
        '   npm test',
        ' Do you want to proceed?',
        ' ❯ 1. Yes',
        '   2. Yes, and always allow access to tmp/',
        '   3. No',
        '',
        ' Esc to cancel · Tab to amend',
      ].join('\n'),
    );
  });

  it('is the last rows of the screen where there is no such line', () => {
    const rows = [
      ...Array.from({ length: 30 }, (_, index) => `line ${index}`),
      'Sure?',
      '❯ 1. Yes',
      '  2. No',
    ];
    expect(read(rows)?.text.split('\n')).toHaveLength(12);
  });

  it('is none while its choices cannot be read', () => {
    expect(read([RULE, ' Bash command'])).toBeNull();
  });

  it('keeps its hash when the mark moves, a clock runs, lines break elsewhere, or a border is drawn', () => {
    const whole = hash(bash('npm run a-long-script -- --with many words'));
    const moved = bash('npm run a-long-script -- --with many words').map((row) =>
      row.includes('1. Yes') ? '   1. Yes' : row.replace('   3. No', ' ❯ 3. No'),
    );
    expect(hash(moved)).toBe(whole);
    expect(hash(bash('npm run a-long-script', ['   -- --with many', '   words']))).toBe(whole);
    const clock = (seconds: number) => hash(bash('ls', [` ✶ Waiting… (${seconds}s · esc)`]));
    expect([clock(3), clock(4)]).toEqual([hash(bash('ls')), hash(bash('ls'))]);
  });

  it('has another hash for anything that is really another', () => {
    const hashes = [
      hash(bash('sleep 5s')),
      hash(bash('sleep 6s')),
      hash(bash('rm -rf a')),
      hash(bash('rm -rf a').map((row) => row.replace('3. No', '3. Never'))),
      hash(bash('rm -rf a').filter((row) => !row.includes('always'))),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it('names the consented choice only when it is there', () => {
    const consented = (choice: RegExp) =>
      read(bash('ls'), { consented: { to: 'bypass', choice } })?.consented;
    expect(consented(/^Yes$/)).toEqual({ to: 'bypass', choice: { number: 1, label: 'Yes', selected: true } });
    expect(consented(/^I accept$/)).toBeNull();
  });
});
