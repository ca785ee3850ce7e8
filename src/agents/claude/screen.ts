import type { Composer, DialogChoice, DialogRules, Screen, ScreenRules } from '../contract.js';
import { numberedChoices } from '../screen-kit.js';

/**
 * Dialogs take the place of the composer and end with their key help as the last row; nothing of the transcript or of
 * a draft can stand below it.
 */
export const claudeScreen: ScreenRules = {
  recordedVersion: '2.1.332',
  tailRows: 60,
  states: [
    {
      when: /Yes, I trust this folder[^]*Enter to confirm · Esc to cancel\s*$/,
      means: 'waiting',
      kind: 'trust',
      dialog: moved({ to: 'trust', choice: /^Yes, I trust this folder/ }),
    },
    {
      when: /Bypass Permissions mode[^]*Yes, I accept[^]*Enter to confirm · Esc to cancel\s*$/,
      means: 'waiting',
      kind: 'trust',
      dialog: moved({ to: 'bypass', choice: /^Yes, I accept/ }),
    },
    // Which account pays is the person's to say.
    {
      when: /custom API key[^]*Enter to confirm · Esc to cancel\s*$/,
      means: 'waiting',
      kind: 'login',
      dialog: moved(),
    },
    {
      when: /\n ?Do you want to [^\n]*\?[^]*\n ?Esc to cancel[^\n]*\s*$/,
      means: 'waiting',
      kind: 'permission',
      dialog: { choices: permissionChoices, by: 'digit' },
    },
    {
      when: /\nEnter to select · [^\n]*Esc to cancel\s*$/,
      means: 'waiting',
      kind: 'question',
      dialog: { choices: questionChoices, by: 'digit' },
    },
    {
      when: /(Enter to (confirm|continue|submit|select)|Esc to (cancel|close|exit|go back))[^\n]*\s*$/,
      means: 'waiting',
      kind: 'dialog',
      dialog: { choices: (screen) => choicesOf(screen), by: 'digit' },
    },
    { when: /Select login method|Paste code here if prompted/, means: 'waiting', kind: 'login' },
    // The footer says so where there is room and no draft; the spinner's row says so always.
    { when: /\n {2}[⏸⏵?][^\n]*esc to interrupt[^\n]*\s*$/, means: 'working' },
    {
      when: /\n[·✢✳✶✻✽*] [^\n]*(…( \([^\n]*\))?|retrying in [^\n]*)[^\n]*(\n(?![●❯─])[^\n]*)*\n─{8,}[^\n]*\n[❯!]/,
      means: 'working',
    },
    { when: /\n─{8,}[^\n]*\n[❯!][^]*\n─{8,}/, means: 'idle' },
  ],
  composer,
};

const RULE = /^─{8,}/;
const SIGN = /^[❯!](\s|$)/;

/** What it suggests in an empty composer: dim, but without colours (NO_COLOR, CI) it looks like a draft. */
const HINT =
  /^(Resend your message to try again|Once fixed, resend your message|Run \/rewind to go back|Try "[^"]*")$/;

/** Between two rules, behind its sign; a menu may be open below it. `!` is another mode: to type there runs a shell. */
function composer({ rows, solid }: Screen): Composer | null {
  const top = rows.findLastIndex((row, index) => SIGN.test(row) && RULE.test(rows[index - 1] ?? ''));
  if (top === -1) return null;
  const height = rows.slice(top).findIndex((row) => RULE.test(row));
  if (height === -1) return null;
  const lines = solid.slice(top, top + height).map((row) => row.slice(2).trim());
  const mode = rows[top]?.startsWith('!') === true ? '!' : '';
  const text = lines.join('\n').trim();
  return { text: mode === '' && HINT.test(text) ? '' : `${mode}${text}` };
}

const NUMBERED = /^ *(❯)? *(\d+)\. +(\S.*)$/;
const choicesOf = (screen: Screen) => numberedChoices(screen, NUMBERED);

/** A choice that a person amends takes every key as text. */
const AMENDED = /^(Yes|No), (?!and |allow |switch )/;

function permissionChoices(screen: Screen): readonly DialogChoice[] {
  const choices = choicesOf(screen);
  return choices.some(({ label }) => AMENDED.test(label)) ? [] : choices;
}

/** What is ticked is not taken yet, and a digit would not finish it. */
const BOX = /^\[.\]/;
/** A field to type in: to choose it is no answer, and in it a digit is text. */
const FIELD = 'Type something.';

/** One answer of a list. Where several can be ticked, or the field is in use, only the person in the pane can tell. */
function questionChoices(screen: Screen): readonly DialogChoice[] {
  const choices = choicesOf(screen);
  const field = choices.findIndex(({ label }) => label.startsWith(FIELD));
  const isInField = field === -1 ? choices.length > 0 : choices[field]?.selected === true;
  if (isInField || choices.some(({ label }) => BOX.test(label))) return [];
  return choices.filter((_, index) => index !== field);
}

function moved(consented?: DialogRules['consented']): DialogRules {
  return { choices: plainChoices, by: 'move', ...(consented === undefined ? {} : { consented }) };
}

/** The rows just above the key help, one of them behind the sign. */
function plainChoices({ rows }: Screen): readonly DialogChoice[] {
  const help = rows.findLastIndex((row) => row.includes('Enter to confirm'));
  const end = rows.slice(0, help).findLastIndex((row) => row.trim() !== '') + 1;
  const start = rows.slice(0, end).findLastIndex((row) => row.trim() === '') + 1;
  const list = rows.slice(start, end);
  if (!list.some((row) => /^ *❯ /.test(row))) return [];
  return list.map((row, index) => ({
    number: index + 1,
    label: row.replace(/^ *(❯ )? */, '').trim(),
    selected: /^ *❯ /.test(row),
  }));
}
