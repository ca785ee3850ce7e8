import type { Region } from './canvas.js';
import type { KeyName } from './keys.js';
import { printable, truncate } from './width.js';

export interface Dialog {
  readonly title: string;
  readonly body: readonly string[];
  readonly question: string;
  readonly options: readonly string[];
  /** The last row; recognisers tell dialogs by it. */
  readonly footer: string;
  /** The choice that Esc and Ctrl-C take. */
  readonly onEscape: number;
}

export function permissionDialog(text: string): Dialog {
  return {
    title: 'Permission needed',
    body: text.split('\n'),
    question: 'Do you want to proceed?',
    options: ['Yes', 'No'],
    footer: '1 yes · 2 no · esc refuses',
    onEscape: 1,
  };
}

/** The refusing answer is preselected, as in real agents: a blind Enter leaves. */
export function trustDialog(directory: string): Dialog {
  return {
    title: 'Do you trust the files in this folder?',
    body: [directory],
    question: 'The agent may read, edit and run what is in it.',
    options: ['No, exit', 'Yes, I trust this folder'],
    footer: '1 exit · 2 trust',
    onEscape: 0,
  };
}

export function moveChoice(dialog: Dialog, choice: number, key: KeyName): number {
  if (key === 'up') return Math.max(0, choice - 1);
  return key === 'down' ? Math.min(dialog.options.length - 1, choice + 1) : choice;
}

/** Never longer than the narrowest pane that is usual: a rule that wraps when the pane shrinks leaves rubbish. */
export function ruleOf(width: number): string {
  return '─'.repeat(Math.min(width, 78));
}

export function dialogRegion(dialog: Dialog, choice: number, width: number): Region {
  const rows = [
    ruleOf(width),
    ` ${dialog.title}`,
    ...dialog.body.map((line) => ` ${line}`),
    '',
    ` ${dialog.question}`,
    ...dialog.options.map((option, index) => ` ${index === choice ? '❯' : ' '} ${index + 1}. ${option}`),
    '',
    `  ${dialog.footer}`,
  ];
  return { rows: rows.map((row) => truncate(printable(row), width)), cursor: null };
}
