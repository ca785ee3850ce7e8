import { z } from 'zod';
import { LEAD_ID } from '../../core/ids.js';
import { isLiveWorker, isTerminalRun, WAITING_KINDS, WAITING_VIA } from '../../core/state/states.js';
import type { MessageRow, RunRow, WorkerRow } from '../../core/state/rows.js';
import { promptHash } from '../../platform/ids.js';
import type { Reader } from '../../store/contract.js';
import { openRun } from '../engine/deps.js';

const ATTENTION_KINDS = [...WAITING_KINDS, 'unconfirmed', 'held', 'stuck', 'stalled'] as const;

export const attentionItem = z.object({
  worker_id: z.string(),
  kind: z
    .enum(ATTENTION_KINDS)
    .describe(
      'what is wanted: permission, question, login, quota, trust, dialog, report, unconfirmed, held, stuck, stalled',
    ),
  text: z.string().describe('the prompt as the agent shows it'),
  choices: z
    .array(z.object({ number: z.number().int(), label: z.string() }))
    .describe('what answer_worker takes as choice; none for a question that is answered by text'),
  prompt_hash: z
    .string()
    .nullable()
    .describe('names this very prompt; null: only a person in the pane can help'),
  since: z.string(),
  via: z.enum([...WAITING_VIA, 'silence']).describe('how it was noticed'),
});
export type AttentionItem = z.infer<typeof attentionItem>;

/** A person who is typing is left alone for so long before it counts as a draft that was left behind. */
export const DRAFT_MS = 30_000;
const TEXT_MOST = 8_000;

/** What is answered by a person or not at all comes first, what only wants a look last. */
const RANKS: Record<AttentionItem['kind'], number> = {
  permission: 0,
  trust: 0,
  dialog: 0,
  login: 1,
  quota: 1,
  question: 2,
  unconfirmed: 3,
  held: 3,
  stuck: 3,
  stalled: 3,
  report: 3,
};

/**
 * Everything in a session that waits for somebody, the most urgent and then the oldest first. `now` null: without the
 * messages that are held for a while now.
 */
export function attention(reader: Reader, sessionId: string, now: number | null): AttentionItem[] {
  if (reader.session(sessionId)?.state !== 'active') return [];
  return reader
    .workers(sessionId)
    .filter((worker) => isLiveWorker(worker.state))
    .flatMap((worker) => itemsOf(reader, worker, now))
    .sort((a, b) => RANKS[a.kind] - RANKS[b.kind] || a.since.localeCompare(b.since));
}

/** "2 waiting: w02 permission, w03 question"; '' when nothing waits. */
export function attentionSummary(items: readonly Pick<AttentionItem, 'worker_id' | 'kind'>[]): string {
  if (items.length === 0) return '';
  return `${items.length} waiting: ${items.map(({ worker_id: id, kind }) => `${id} ${kind}`).join(', ')}`;
}

function itemsOf(reader: Reader, worker: WorkerRow, now: number | null): AttentionItem[] {
  const run = openRun(reader, worker.session_id, worker.worker_id);
  const deliveries = deliveriesOf(reader, worker, now);
  const question = questionOf(worker, run);
  const shown = worker.state === 'waiting' ? shownBy(worker) : null;
  // All of these stand for what the others say already, or said until it was answered.
  const isDouble =
    shown?.via === 'tool' ||
    (worker.waiting_hash === null &&
      ((shown?.kind === 'question' && question !== null) ||
        (shown?.kind === 'dialog' && deliveries.some(({ kind }) => kind === 'unconfirmed'))));
  return [
    ...(shown === null || isDouble ? [] : [shown]),
    ...(question === null ? [] : [question]),
    ...deliveries,
    ...(run === null || run.stalled_since === null ? [] : [stalled(run, run.stalled_since)]),
  ];
}

function shownBy(worker: WorkerRow): AttentionItem {
  const kind = worker.waiting_kind ?? 'dialog';
  return {
    worker_id: worker.worker_id,
    kind: kind === 'report' && worker.worker_id === LEAD_ID ? 'stuck' : kind,
    text: (worker.waiting_text ?? '').slice(0, TEXT_MOST),
    choices: worker.waiting_choices ?? [],
    prompt_hash: worker.waiting_hash,
    since: worker.waiting_since ?? worker.updated_at,
    via: worker.waiting_via ?? 'screen',
  };
}

/** What a worker asked the lead with its own tool. */
function questionOf(worker: WorkerRow, run: RunRow | null): AttentionItem | null {
  if (run?.state !== 'waiting' || run.waiting_kind !== 'question') return null;
  const text = run.waiting_text ?? '';
  return {
    worker_id: worker.worker_id,
    kind: 'question',
    text: text.slice(0, TEXT_MOST),
    choices: [],
    prompt_hash: promptHash(['question', run.run_id, text]),
    since: run.updated_at,
    via: 'tool',
  };
}

/** Nobody can answer it; somebody may want to look. */
function stalled(run: RunRow, since: string): AttentionItem {
  const line = run.stalled_line ?? '';
  return {
    worker_id: run.worker_id,
    kind: 'stalled',
    text: `no output, no call, no CPU time since then${line === '' ? '' : `; its last line: ${line}`}`,
    choices: [],
    prompt_hash: null,
    since,
    via: 'silence',
  };
}

function deliveriesOf(reader: Reader, worker: WorkerRow, now: number | null): AttentionItem[] {
  const messages = reader.messages(worker.session_id, worker.worker_id);
  const typed = messages.filter(({ typed_at: at }) => at !== null).at(-1);
  const item = (message: MessageRow, kind: 'unconfirmed' | 'held', text: string): AttentionItem => ({
    worker_id: worker.worker_id,
    kind,
    text: text.slice(0, TEXT_MOST),
    choices: [],
    prompt_hash: null,
    since: message.updated_at,
    via: 'screen',
  });
  const items: AttentionItem[] = [];
  if (typed?.state === 'unconfirmed' && isOpen(reader, typed))
    items.push(
      item(typed, 'unconfirmed', `nothing proves that it was taken: ${firstLine(typed)}\n${typed.detail}`),
    );
  const held = messages.find(
    ({ state, detail, updated_at: at }) =>
      state === 'held' && detail === 'human_draft' && now !== null && now - Date.parse(at) >= DRAFT_MS,
  );
  if (held !== undefined)
    items.push(item(held, 'held', `held for what somebody has typed in its pane: ${firstLine(held)}`));
  return items;
}

function isOpen(reader: Reader, { run_id: runId }: MessageRow): boolean {
  const run = runId === null ? null : reader.run(runId);
  return run === null || !isTerminalRun(run.state);
}

function firstLine({ text }: MessageRow): string {
  return (text.trim().split('\n')[0] ?? '').slice(0, 120);
}
