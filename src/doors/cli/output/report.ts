import type { SessionReport } from '../../../services/supervise/session-report.js';
import { attentionSummary } from '../../../services/supervise/attention.js';
import { paintState, type Paint } from './paint.js';
import { oneLine, plain, seconds, size } from './plain.js';
import { GAP, table, tableWidth } from './table.js';

const TEXT_COLUMNS = 60;
/** Less says nothing: then the line may wrap. */
const TEXT_LEAST = 16;
const WORKERS_INDENT = '  ';
const TAIL_LINES = 8;

interface Options {
  readonly paint: Paint;
  readonly attachCommand: string | null;
  /** Of the terminal that it is for; null: it is for none. */
  readonly columns: number | null;
  /** It ends where what `renderDisk` says is to follow. */
  readonly diskFollows?: boolean;
}

/** What a session is and came to, for people: `status`, and the summary at the end. */
export function renderReport(report: SessionReport, options: Options): string {
  const { paint } = options;
  const blocks = [
    [
      `${paint.strong(`session ${report.session_id}`)}  ${paintState(paint, report.state)}`,
      ...words(report),
    ].join('\n'),
    report.workers.length === 0 ? null : `${paint.faint('workers')}\n${workers(report, options)}`,
    attentionLine(report, paint),
    verification(report, paint),
    leftOut(report, paint),
    facts(report, options),
  ];
  const text = blocks.filter((block) => block !== null).join('\n\n');
  return options.diskFollows === true ? `${text}  ` : `${text}\n`;
}

function words(report: SessionReport): string[] {
  const ended = report.summary === '' ? (report.reason ?? '') : report.summary;
  const [text, prefix] =
    ended !== ''
      ? [ended, '']
      : [report.last_progress ?? report.goal, report.last_progress === null ? 'goal: ' : 'now: '];
  const lines = indented(`${prefix}${plain(text)}`);
  const alsoReason = report.summary !== '' && report.reason !== null ? indented(plain(report.reason)) : [];
  return [...lines, ...alsoReason];
}

function indented(text: string): string[] {
  return text
    .trim()
    .split('\n')
    .map((line) => `  ${line}`.trimEnd());
}

function workers(report: SessionReport, { paint, columns }: Options): string {
  const facts = report.workers.map((worker) => [
    worker.worker_id,
    worker.perspective,
    worker.agent,
    paintState(paint, worker.state),
    worker.integrated ? 'integrated' : '',
  ]);
  const used = tableWidth(facts) + WORKERS_INDENT.length + GAP.length;
  const room = columns === null ? TEXT_COLUMNS : Math.max(TEXT_LEAST, Math.min(TEXT_COLUMNS, columns - used));
  const texts = report.workers.map(({ waiting, summary, task }) => {
    const words = summary === '' ? task : summary;
    return oneLine(waiting === null ? words : `waits (${waiting.kind}): ${waiting.text}`, room);
  });
  return table(
    facts.map((cells, index) => [...cells, texts[index] ?? '']),
    WORKERS_INDENT,
  );
}

function attentionLine(report: SessionReport, paint: Paint): string | null {
  const waiting = attentionSummary(report.attention);
  if (waiting === '') return null;
  return `${paint.warn(waiting)}\n  agentorchestr attention ${report.session_id}`;
}

function verification({ verify }: SessionReport, paint: Paint): string | null {
  if (verify === null) return null;
  const commit = verify.commit.slice(0, 7);
  if (verify.state === 'nothing_to_verify')
    return `${paint.faint('verify')}   nothing to verify at ${commit}: no command was known`;
  const rows = verify.commands.map((command) => [
    command.exit_code === 0 ? 'exit 0' : paint.bad(howItEnded(command)),
    seconds(command.duration_ms),
    oneLine(command.command, TEXT_COLUMNS),
  ]);
  const failed = verify.commands.find((command) => command.exit_code !== 0);
  const said = plain(failed?.tail ?? '').trimEnd();
  const tail = said === '' ? [] : said.split('\n').slice(-TAIL_LINES);
  return [
    `${paint.faint('verify')}   ${paintState(paint, verify.state)} at ${commit}`,
    ...(verify.reason === null ? [] : [`  ${oneLine(verify.reason, 2 * TEXT_COLUMNS)}`]),
    ...(rows.length === 0 ? [] : [table(rows, '  ')]),
    ...tail.map((line) => paint.faint(`    ${line}`)),
  ].join('\n');
}

function howItEnded({ exit_code: code, stopped }: { exit_code: number | null; stopped: boolean }): string {
  if (code !== null) return `exit ${code}`;
  return stopped ? 'stopped' : 'time limit';
}

function leftOut({ left_out: found }: SessionReport, paint: Paint): string | null {
  if (found === null || found.length === 0) return null;
  const rows = found.map((one) => {
    const parts = [counted(one.commits, 'commit'), counted(one.changed_files, 'changed file')];
    const reason = one.discarded === null ? '' : `discarded: ${oneLine(one.discarded, TEXT_COLUMNS)}`;
    const place = one.worktree ?? `branch ${one.branch ?? ''}`;
    return [one.worker_id, parts.filter((part) => part !== '').join(', '), plain(place), reason];
  });
  return `${paint.warn('not in the result')} (clean keeps it, too)\n${table(rows, '  ')}`;
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`;
}

function facts(report: SessionReport, options: Options): string {
  const { paint } = options;
  const rows: [string, string][] = [['base', plain(report.base.replace(/^base:? /, ''))]];
  if (report.branch !== null) rows.push(['branch', plain(report.branch)]);
  if (report.applied !== null) rows.push(['applied', plain(report.applied)]);
  if (report.merge_command !== null) rows.push(['merge', paint.strong(plain(report.merge_command))]);
  else if (report.state === 'done' && report.applied === null && report.cleaned_at === null)
    rows.push(['merge', 'nothing: the result holds no change']);
  if (options.attachCommand !== null) rows.push(['panes', options.attachCommand]);
  if (report.resumable)
    rows.push(['go on', `agentorchestr --resume ${report.session_id}${stillAtIt(report, options)}`]);
  if (report.cleaned_at !== null)
    rows.push([
      'cleaned',
      `${plain(report.cleaned_at)}; work that was kept, if there was any: agentorchestr salvage list ${report.session_id}`,
    ]);
  if (options.diskFollows === true) rows.push(['on disk', '']);
  return table(rows.map(([name, value]) => [paint.faint(name), value]));
}

function stillAtIt({ state }: SessionReport, { attachCommand }: Options): string {
  return state === 'crashed' && attachCommand !== null ? '   (its agents may still be at it)' : '';
}

export function renderDisk(report: SessionReport): string {
  const { session_id: id, cleaned_at: cleanedAt, disk: kept } = report;
  if (kept === null || kept.bytes === 0) return 'nothing';
  const parts = (['worktrees', 'salvage', 'repository', 'session'] as const)
    .filter((name) => kept[name] > 0)
    .map((name) => `${name} ${size(kept[name])}`);
  const total = `${kept.complete ? '' : 'more than '}${size(kept.bytes)} (${parts.join(', ')})`;
  return cleanedAt === null && report.state !== 'active'
    ? `${total}; what would go: agentorchestr clean ${id} --dry-run`
    : total;
}
