import type { Composer, DialogChoice, DialogRules, Screen, ScreenRules } from '../contract.js';

/** A dialog ends with its key help as the last row; the composer and what stands below it are not there then. */
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
    { when: /Hooks need review[^]*\s*$/, means: 'waiting', kind: 'trust', dialog: moved() },
    {
      when: /(Would you like to (run|make|grant)[^]*|Allow the [^]*)(Press enter to confirm or esc to cancel|enter to submit \| esc to cancel)\s*$/,
      means: 'waiting',
      kind: 'permission',
      dialog: moved(),
    },
    {
      when: /\n[^\n]*(press enter to (confirm|continue)|enter to submit|enter continue)[^\n]*\s*$/i,
      means: 'waiting',
      kind: 'dialog',
      dialog: moved(),
    },
    { when: /\n[•◦] [^\n]*\([^\n]*esc to interrupt\)/, means: 'working' },
    // Neither a hook nor anything else tells of a turn that failed.
    { when: /\n■ [^\n]*(\n(?![›•])[^\n]*)*\n› [^]*$/, means: 'error' },
    { when: /\n› ?[^]*\n {2}\S[^\n]* · [^\n]*(\n[^\n]*)?\s*$/, means: 'idle' },
  ],
  composer,
};

const SIGN = /^›(\s|$)/;
/** Model and folder, below the composer. */
const FOOTER = /^ {2}\S.* · \S/;
/** Without colours it cannot be told from a draft. */
const HINT = /^(Ask Codex to do anything)$/;

/** From its sign to the blank row above the footer. */
function composer({ rows, solid }: Screen): Composer | null {
  const top = rows.findLastIndex((row) => SIGN.test(row));
  if (top === -1) return null;
  const footer = rows.findIndex((row, index) => index > top && FOOTER.test(row));
  if (footer === -1 || NUMBERED.test(rows[top] ?? '')) return null;
  const lines = solid.slice(top, footer).map((row) => row.slice(2).trimEnd());
  const text = lines.join('\n').trim();
  return { text: HINT.test(text) ? '' : text };
}

const NUMBERED = /^ *(›)? *(\d+)\. +(\S.*)$/;

/** The numbered rows next above the key help. */
function choices({ rows }: Screen): readonly DialogChoice[] {
  const found: DialogChoice[] = [];
  for (let index = rows.length - 1; index >= 0; index--) {
    const [match, sign, digits, label = ''] = NUMBERED.exec(rows[index] ?? '') ?? [];
    if (match === undefined) continue;
    const number = Number(digits);
    if (found.length > 0 && number !== (found[0]?.number ?? 0) - 1) continue;
    found.unshift({ number, label: label.trim(), selected: sign !== undefined });
    if (number === 1) return found;
  }
  return [];
}

function moved(consented?: DialogRules['consented']): DialogRules {
  return { choices, by: 'move', ...(consented === undefined ? {} : { consented }) };
}
