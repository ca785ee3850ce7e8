import { attentionSummary } from '../../../services/supervise/attention.js';
import type { SessionReport, WorkerReport } from '../../../services/supervise/session-report.js';
import { paintState, type Paint } from './paint.js';
import { clockTime, oneLine, plain, size } from './plain.js';
import { table } from './table.js';

const TEXT_COLUMNS = 60;
/** Narrower than this, a worker is its id, its state and what it does. */
const NARROW = 70;
/** Lines that a worker table keeps, however low the terminal is. */
const FEWEST_WORKERS = 2;

export interface FrameOptions {
  readonly paint: Paint;
  /** null: as wide and high as it gets. */
  readonly terminal: { readonly columns: number; readonly rows: number } | null;
  /** The last lines: what the person can do. */
  readonly footer: readonly string[];
}

/** A session at one moment, line by line: what `status --watch` draws again and again. */
export function liveFrame(report: SessionReport, at: string, options: FrameOptions): string[] {
  const { paint, terminal } = options;
  const done = report.workers.filter(({ state }) => state === 'done').length;
  const head = [
    [
      paint.strong(`session ${report.session_id}`),
      paintState(paint, report.state),
      ...(report.workers.length === 0 ? [] : [`${done}/${report.workers.length} done`]),
      ...(isNarrow(terminal) ? [] : [paint.faint(clockTime(at))]),
    ].join('  '),
    `  ${words(report)}`,
  ];
  const tail = [...facts(report, paint), ...options.footer.map((line) => paint.faint(line))];
  const used = head.length + tail.length + 2;
  const room = terminal === null ? Infinity : Math.max(FEWEST_WORKERS, terminal.rows - used);
  const middle = workers(report, { paint, room, narrow: isNarrow(terminal) });
  const lines = [head, middle, tail].filter((block) => block.length > 0).flatMap((block) => ['', ...block]);
  return lines
    .slice(1, terminal?.rows === undefined ? undefined : terminal.rows + 1)
    .map((line) => fit(line, terminal?.columns));
}

function isNarrow(terminal: FrameOptions['terminal']): boolean {
  return terminal !== null && terminal.columns < NARROW;
}

function words({ summary, reason, last_progress: progress, goal }: SessionReport): string {
  const ended = summary === '' ? (reason ?? '') : summary;
  if (ended !== '') return oneLine(ended, 2 * TEXT_COLUMNS);
  return oneLine(progress === null ? `goal: ${goal}` : `now: ${progress}`, 2 * TEXT_COLUMNS);
}

/** Where there is no room for all, those that are done are left out first. */
function workers(
  report: SessionReport,
  { paint, room, narrow }: { paint: Paint; room: number; narrow: boolean },
): string[] {
  const all = report.workers;
  if (all.length === 0) return [paint.faint('  no workers yet')];
  const most = all.length <= room ? all.length : room - 1;
  const byNeed = [
    ...all.filter(({ state }) => state !== 'done'),
    ...all.filter(({ state }) => state === 'done'),
  ];
  const shown = new Set(byNeed.slice(0, most));
  const rows = all.filter((worker) => shown.has(worker)).map((worker) => row(worker, paint, narrow));
  const left = all.length - shown.size;
  const more = left === 0 ? [] : [paint.faint(`  … ${left} more: agentorchestr status ${report.session_id}`)];
  return [...(rows.length === 0 ? [] : table(rows, '  ').split('\n')), ...more];
}

function row(worker: WorkerReport, paint: Paint, narrow: boolean): string[] {
  const { waiting, summary, task } = worker;
  const said =
    waiting === null ? (summary === '' ? task : summary) : `waits (${waiting.kind}): ${waiting.text}`;
  const place = narrow ? [] : [worker.perspective, worker.agent];
  const mark = worker.integrated ? 'integrated: ' : '';
  return [
    worker.worker_id,
    paintState(paint, worker.state),
    ...place,
    oneLine(`${mark}${said}`, 2 * TEXT_COLUMNS),
  ];
}

function facts(report: SessionReport, paint: Paint): string[] {
  const { verify, disk, branch } = report;
  const rows: [string, string][] = [];
  if (verify !== null) {
    const state =
      verify.state === 'nothing_to_verify' ? 'nothing to verify' : paintState(paint, verify.state);
    rows.push(['verify', `${state} at ${verify.commit.slice(0, 7)}`]);
  }
  if (branch !== null) rows.push(['branch', plain(branch)]);
  if (disk !== null && disk.bytes > 0)
    rows.push(['on disk', `${disk.complete ? '' : 'more than '}${size(disk.bytes)}`]);
  const waiting = attentionSummary(report.attention);
  return [
    ...(waiting === '' ? [] : [paint.warn(`${waiting}: agentorchestr attention ${report.session_id}`)]),
    ...(rows.length === 0 ? [] : table(rows.map(([name, value]) => [paint.faint(name), value])).split('\n')),
  ];
}

/** Colours take no room, and the last of them must not run on behind the cut. */
function fit(line: string, columns: number | undefined): string {
  if (columns === undefined) return line;
  const parts = line.match(/\u001b\[[0-9;]*m|./gsu) ?? [];
  const letters = parts.filter((part) => part.length === 1 || !part.startsWith('\u001b')).length;
  if (letters <= columns) return line;
  let room = columns - 1;
  const kept = parts.filter((part) => part.startsWith('\u001b') || room-- > 0);
  return `${kept.join('')}…`;
}
