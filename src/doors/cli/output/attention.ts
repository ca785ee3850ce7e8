import type { AttentionItem } from '../../../services/supervise/attention.js';
import type { Paint } from './paint.js';
import { age, plain } from './plain.js';
import { table } from './table.js';

const LINES_MOST = 20;

/** Items for people: who waits, with what, and the exact command that answers it. */
export function renderAttention(
  items: readonly AttentionItem[],
  options: { paint: Paint; sessionId: string; now: number },
): string {
  if (items.length === 0) return 'nothing waits for you\n';
  return `${items.map((item) => renderItem(item, options)).join('\n\n')}\n`;
}

export function renderItem(
  item: AttentionItem,
  { paint, sessionId, now }: { paint: Paint; sessionId: string; now: number },
): string {
  const head = `${paint.strong(item.worker_id)}  ${paint.warn(item.kind)}  ${paint.faint(age(item.since, now))}`;
  return [head, ...prompt(item), ...howToAnswer(item, sessionId)].join('\n');
}

export function prompt({ text }: Pick<AttentionItem, 'text'>): string[] {
  const lines = plain(text)
    .split('\n')
    .map((line) => `  | ${line}`.trimEnd());
  return lines.length > LINES_MOST
    ? [...lines.slice(0, LINES_MOST), `  | … ${lines.length - LINES_MOST} more lines`]
    : lines;
}

function howToAnswer(item: AttentionItem, sessionId: string): string[] {
  const { worker_id: worker, prompt_hash: hash, choices } = item;
  if (hash === null) return [`  ${OTHERWISE[item.kind] ?? LOOK} agentorchestr attach ${sessionId}`];
  const end = `--prompt-hash ${hash} --session ${sessionId}`;
  if (choices.length === 0) return [`  agentorchestr answer ${worker} --text "…" ${end}`];
  const rows = choices.map(({ number, label }) => [
    `${number}. ${plain(label)}`,
    `agentorchestr answer ${worker} --choice ${number} ${end}`,
  ]);
  return [table(rows, '  ')];
}

const LOOK = 'answer it in its pane:';
const OTHERWISE: Partial<Record<AttentionItem['kind'], string>> = {
  unconfirmed: 'see in its pane whether it was taken:',
  held: 'submit or clear what is typed in its pane:',
  stuck: 'tell the lead in its pane how to go on:',
  login: 'settle it in its pane, then tell it to go on where it does not by itself:',
  quota: 'tell it in its pane to go on, as soon as it can:',
  report: 'see in its pane what it did; the lead was told:',
};
