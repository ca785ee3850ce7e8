import type { CleanReport } from '../../../services/supervise/clean-report.js';
import type { SalvagedItem } from '../../../services/supervise/salvaged-work.js';
import { age, plain, size } from './plain.js';
import { paintState, type Paint } from './paint.js';
import { table } from './table.js';

/** What was removed of a session (or would be), what is kept and where, what stays and why. */
export function renderCleaning(report: CleanReport, paint: Paint): string {
  const { dry_run: dry, removed, salvaged, left } = report;
  const blocks = [
    `${paint.strong(`session ${report.session_id}`)}  ${paintState(paint, report.state)}`,
    report.resume_lost === null ? null : paint.warn(`cannot be resumed afterwards: ${report.resume_lost}`),
    section(
      paint.faint(dry ? 'would go' : 'removed'),
      removed.map(({ what, name, bytes, note }) => [
        what,
        plain(name),
        bytes === 0 ? '' : size(bytes),
        note ?? '',
      ]),
    ),
    section(
      paint.faint(dry ? 'would be kept' : 'kept'),
      salvaged.flatMap((work) => kept(work)),
    ),
    section(
      paint.faint('stays'),
      left.map(({ what, reason, bytes }) => [plain(what), bytes === 0 ? '' : size(bytes), plain(reason)]),
    ),
    removed.length + salvaged.length + left.length === 0
      ? 'nothing is left of it'
      : `${dry ? 'would free' : 'freed'} ${size(report.bytes)}`,
    dry || salvaged.length === 0
      ? null
      : `bring it back: agentorchestr salvage restore ${report.session_id}/${salvaged[0]?.worker ?? ''} --to DIR`,
  ];
  return `${blocks.filter((block) => block !== null).join('\n')}\n`;
}

function section(title: string, rows: readonly (readonly string[])[]): string | null {
  return rows.length === 0 ? null : `${title}\n${table(rows, '  ')}`;
}

function kept(work: CleanReport['salvaged'][number]): string[][] {
  const files = work.ignored_files;
  return [
    [work.worker, work.ref],
    ...(files.length === 0
      ? []
      : [['', `ignored files ${files.join(', ')} in ${work.kept_in ?? ''}`].map(plain)]),
    ...work.submodules.map(({ path, ref, repository }) => [
      '',
      plain(`submodule ${path}: ${ref} in ${repository}`),
    ]),
  ];
}

export function renderSalvaged(
  items: readonly SalvagedItem[],
  options: { paint: Paint; now: number },
): string {
  const { paint, now } = options;
  if (items.length === 0) return 'nothing is kept\n';
  const rows = items.map((item) => [
    paint.strong(item.id),
    item.at === null ? '' : age(item.at, now),
    `${item.commits} ${item.commits === 1 ? 'commit' : 'commits'}`,
    `${item.files} ${item.files === 1 ? 'file' : 'files'}, ${size(item.bytes)}`,
    item.uncommitted ? 'uncommitted too' : '',
    item.available ? plain(item.ref) : paint.bad(`its repository ${plain(item.repository)} is gone`),
  ]);
  const ignored = items
    .filter(({ kept_in: folder }) => folder !== null)
    .map((item) => [
      item.id,
      plain(`ignored files ${item.ignored_files.join(', ')} in ${item.kept_in ?? ''}`),
    ]);
  const example = `bring one back: agentorchestr salvage restore ${items[0]?.id ?? ''} --to DIR (or --branch NAME)`;
  return `${[table(rows), ...(ignored.length === 0 ? [] : [table(ignored)]), paint.faint(example)].join('\n')}\n`;
}
