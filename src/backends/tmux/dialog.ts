import type { DialogChoice, DialogRules, Screen } from '../../agents/contract.js';
import type { Choice } from '../../core/state/states.js';
import { promptHash } from '../../platform/ids.js';
import type { DialogShown } from '../contract.js';

/** A dialog as it was read from a screen. */
export interface DialogReading extends DialogShown {
  readonly by: DialogRules['by'];
  readonly text: string;
  readonly choices: readonly DialogChoice[];
  /** Of what it asks, without its choices: a key that only changes the choices has answered nothing. */
  readonly questionHash: string;
}

/** A line drawn across: what a program puts above its dialog, and around its input box. */
const RULE = /^[\s│┃╭╮┌┐├┤]*[─━═▔▁]{8,}[\s│┃╭╮┌┐├┤]*$/;
/** A row that moves by itself: an animated sign and what it does, with its time. */
const SPINNER = /^\s*[✻✽✶✢✸✹✺✳∗·*\u2800-\u28ff]\s\S.*…\s*\(/;
const ELAPSED = /\((?:\d+\s?[hms]\s?)+(?=[)·])/g;
/** Which choice is selected, borders, and how lines were broken: all of that may differ from one look to the next. */
const MARK = /^[\s│┃]*>(?=\s)/gm;
const NO_MEANING = /[\s❯›▶►●○◉◯│┃╭╮╰╯┌┐└┘─━═▔▁╌┄┈]/g;

/** Border, mark and number that stand before a choice. */
const BEFORE_LABEL = /^[\s│┃]*[❯›▶►>]?\s*(?:\d+[.)]\s*)?/;

/**
 * What the rules see of a dialog, or null while its choices cannot be told. `tailRows`: how much of the screen belongs
 * to it where nothing tells what is above it.
 */
export function readDialog(rules: DialogRules, screen: Screen, tailRows: number): DialogReading | null {
  const choices = rules.choices(screen);
  if (choices.length === 0) return null;
  const rows = dialogRows(screen.rows, tailRows, choices, rules.above ?? RULE);
  const { consented } = rules;
  const choice = consented && choices.find(({ label }) => consented.choice.test(label));
  return {
    by: rules.by,
    choices,
    text: rows.join('\n').trim(),
    promptHash: hashOfDialog(rows, choices),
    questionHash: hashOfDialog(rows.slice(0, firstChoice(rows, choices)), []),
    consented: consented === undefined || choice === undefined ? null : { to: consented.to, choice },
  };
}

/** From the last row above the first choice that is above the dialog. */
function dialogRows(
  screen: readonly string[],
  tailRows: number,
  choices: readonly DialogChoice[],
  above: RegExp,
): readonly string[] {
  const rows = lastRows(screen, Infinity);
  const top = rows.slice(0, firstChoice(rows, choices)).findLastIndex((row) => above.test(row));
  return top === -1 ? rows.slice(-tailRows) : rows.slice(top + 1);
}

/** The row of the first choice; 0 where it cannot be told. */
function firstChoice(rows: readonly string[], choices: readonly DialogChoice[]): number {
  const label = choices[0]?.label ?? '';
  const words = rows.map((row) => row.replace(BEFORE_LABEL, '').trimEnd());
  const exact = words.lastIndexOf(label);
  const first = exact === -1 ? words.findLastIndex((row) => row !== '' && label.startsWith(row)) : exact;
  return Math.max(0, first);
}

/** Blank rows at the bottom do not count: a program that has drawn little stands at the top of its pane. */
export function lastRows(rows: readonly string[], count: number): readonly string[] {
  const end = rows.findLastIndex((row) => row.trim() !== '') + 1;
  return rows.slice(Math.max(0, end - count), end);
}

function hashOfDialog(rows: readonly string[], choices: readonly DialogChoice[]): string {
  const text = rows
    .filter((row) => !SPINNER.test(row))
    .map((row) => row.replaceAll(ELAPSED, '('))
    .join('\n')
    .replaceAll(MARK, '')
    .replaceAll(NO_MEANING, '');
  return promptHash([text, choices.map(({ number, label }) => [number, label.replaceAll(/\s/g, '')])]);
}

/** What of it concerns those who do not see the screen. */
export function shownDialog({ choices, promptHash, consented }: DialogReading): DialogShown {
  const choice = ({ number, label }: Choice): Choice => ({ number, label });
  return {
    choices: choices.map(choice),
    promptHash,
    consented: consented === null ? null : { to: consented.to, choice: choice(consented.choice) },
  };
}
