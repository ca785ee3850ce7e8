import type { Composer, DialogChoice, DialogRules, Screen, ScreenRules } from '../contract.js';
import { numberedChoices } from '../screen-kit.js';
import { LOGIN, QUOTA } from './failures.js';

/** The composer and what stands below it, to the end: nothing of the transcript is in it. */
const COMPOSER = String.raw`\n[›!] ?[^\n]*(\n(?![•◦■✗›]| {2}Worked for )[^\n]*)*$`;
/** What may stand between a status and the composer: details, what is queued. */
const NO_END = String.raw`(\n(?![■✗›]| {2}Worked for )[^\n]*)*`;

/** What the transcript begins with; the sign of something that runs blinks. */
const SAID = /^[•◦■✗›] /;

/**
 * A dialog ends with its key help as the last row; the composer and what stands below it are not there then. What an
 * agent writes begins with `• ` too: its status is told from a quotation by what follows it.
 */
export const codexScreen: ScreenRules = {
  recordedVersion: '0.171.0',
  tailRows: 60,
  states: [
    {
      when: /Trust this folder\?[^]*enter continue · esc back\s*$/,
      means: 'waiting',
      kind: 'trust',
      dialog: moved({ to: 'trust', choice: /^Trust and continue/ }),
    },
    // Ours are trusted by their hash; others that the person never reviewed stay off, and nothing is written for that.
    {
      when: /Hooks need review[^]*enter confirm · esc skip\s*$/,
      means: 'waiting',
      kind: 'trust',
      dialog: moved({ to: 'trust', choice: /^Continue without trusting/ }),
    },
    {
      when: /(Sign in with ChatGPT|Sign in another way)[^]*\n[^\n]*enter[^\n]*\s*$/i,
      means: 'waiting',
      kind: 'login',
    },
    {
      when: /(Would you like to (run|make|grant)[^]*|Allow the [^]*)(Press enter to confirm or esc to cancel|enter to submit \| esc to cancel)\s*$/,
      means: 'waiting',
      kind: 'permission',
      dialog: moved(),
    },
    {
      when: /\n[^\n]*enter to submit (answer|all)[^\n]*\s*$/,
      means: 'waiting',
      kind: 'question',
      dialog: { choices: questionChoices, by: 'move', above: SAID },
    },
    {
      when: /\n[^\n]*(press enter to (confirm|continue)|enter to submit|enter (continue|confirm))[^\n]*\s*$/i,
      means: 'waiting',
      kind: 'dialog',
      dialog: moved(),
    },
    {
      when: new RegExp(String.raw`(?:^|\n)[•◦] [^\n]*\([^\n]*esc to interrupt\)[^\n]*${NO_END}${COMPOSER}`),
      means: 'working',
    },
    // Neither a hook nor anything else tells of a turn that failed.
    { when: failed(`(?=[^›]*?(?:${QUOTA.source}))`), means: 'error', kind: 'quota' },
    { when: failed(`(?=[^›]*?(?:${LOGIN.source}))`), means: 'error', kind: 'login' },
    { when: failed(''), means: 'error' },
    { when: /(?:^|\n)[›!] ?[^]*\n {2}\S[^\n]* · [^\n]*(\n[^\n]*)?\s*$/, means: 'idle' },
  ],
  composer,
};

function failed(words: string): RegExp {
  const text = String.raw`■ (?!Conversation interrupted)${words}[^\n]*(\n(?![•◦■✗›])[^\n]*)*`;
  return new RegExp(String.raw`(?:^|\n)(?<text>${text})${COMPOSER}`, 'i');
}

/** `!` is another mode: to type there runs a shell. */
const SIGN = /^[›!](\s|$)/;
/** Model and folder, below the composer; a dialog has its key help there. */
const FOOTER = /^ {2}(?!enter |esc |press |tab )\S.* · \S/i;
/** Without colours it cannot be told from a draft. */
const HINT = /^(Ask Codex to do anything)$/;

/** From its sign to the footer, which is the last row or has one with hints below it. */
function composer({ rows, solid }: Screen): Composer | null {
  const top = rows.findLastIndex((row) => SIGN.test(row));
  const last = rows.findLastIndex((row) => row !== '');
  const footer = [last - 1, last].find((index) => index > top && FOOTER.test(rows[index] ?? ''));
  if (top === -1 || footer === undefined) return null;
  const lines = solid.slice(top, footer).map((row) => row.slice(2).trimEnd());
  const text = lines.join('\n').trim();
  if (rows[top]?.startsWith('!') === true) return { text: `!${text}` };
  return { text: HINT.test(text) ? '' : text };
}

const NUMBERED = /^ *(›)? *(\d+)\. +(\S.*)$/;

/** The numbered rows next above the key help. */
function choices(screen: Screen): readonly DialogChoice[] {
  return numberedChoices(screen, NUMBERED);
}

/** Notes are typed; where they are in use, or more than one question stands there, only the person in the pane can tell. */
function questionChoices(screen: Screen): readonly DialogChoice[] {
  const isAlone = screen.rows.some((row) => /^ *Question 1\/1 /.test(row));
  const isTyped = screen.rows.some((row) => /tab (or esc )?to clear notes/.test(row));
  return isAlone && !isTyped ? choices(screen) : [];
}

function moved(consented?: DialogRules['consented']): DialogRules {
  return { choices, by: 'move', above: SAID, ...(consented === undefined ? {} : { consented }) };
}
