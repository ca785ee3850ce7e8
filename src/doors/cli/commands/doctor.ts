import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { Diagnosis } from '../../../services/doctor/diagnose.js';
import { mendableOf, type Mended } from '../../../services/doctor/mend.js';
import type { CheckRow, CheckState } from '../../../services/doctor/row.js';
import { saysYes } from '../ask.js';
import type { CliHost } from '../host.js';
import { createPaint, type Paint } from '../output/paint.js';
import { plain } from '../output/plain.js';
import { wrap } from '../output/wrap.js';

interface DoctorOptions {
  readonly json: boolean;
  /** Does what nobody has to decide, then looks again. */
  readonly fix: boolean;
  readonly yes: boolean;
}

export async function doctor(host: CliHost, options: DoctorOptions): Promise<number> {
  const first = await host.diagnose();
  const mended = options.fix ? await fixed(host, first, options) : [];
  if (mended === null) {
    host.terminal.err('nothing was changed\n');
    return EXIT.operation;
  }
  const diagnosis = mended.length === 0 ? first : await host.diagnose();
  const shown = options.fix ? mended : null;
  host.terminal.out(options.json ? asJson(diagnosis, shown, host.version) : render(diagnosis, mended, host));
  const isWell = diagnosis.healthy && mended.every(({ problem }) => problem === null);
  return isWell ? EXIT.ok : EXIT.operation;
}

/** null: the person does not want it. Throws USAGE where it would have to ask and cannot. */
async function fixed(
  host: CliHost,
  { areas }: Diagnosis,
  { json, yes }: DoctorOptions,
): Promise<readonly Mended[] | null> {
  const { terminal } = host;
  const mendable = mendableOf(areas.flatMap(({ rows }) => rows));
  if (mendable.length === 0) return [];
  if (!yes) {
    if (!terminal.stdinIsTty || json)
      throw new OrchestratorError('USAGE', {
        problem: '--fix asks before it removes anything, and cannot ask here',
        hint: 'look first without --fix, then say --yes',
      });
    for (const { row, mend } of mendable) terminal.err(`${plain(row.found)}\n  → ${mend.does}\n`);
    if (!(await saysYes(terminal, 'Do this?'))) return null;
  }
  return host.mend(mendable);
}

function asJson({ healthy, areas }: Diagnosis, fixed: readonly Mended[] | null, version: string): string {
  const checks = areas.flatMap(({ area, rows }) => rows.map((row) => ({ area, ...row, fix: fixText(row) })));
  return `${JSON.stringify({ version, healthy, ...(fixed === null ? {} : { fixed }), checks }, null, 2)}\n`;
}

const STATE_WIDTH = 7;
const NAME_WIDTH = 15;
const INDENT = 2 + STATE_WIDTH + 2;

interface Look {
  readonly paint: Paint;
  readonly columns: number;
  readonly home: string;
}

function render({ healthy, areas }: Diagnosis, mended: readonly Mended[], host: CliHost): string {
  const look: Look = {
    paint: createPaint(host.terminal, host.env, 'stdout'),
    // What is piped into a file or a search stays in one line.
    columns: host.terminal.stdoutIsTty ? host.terminal.columns : Infinity,
    home: host.env['HOME'] ?? '',
  };
  const sections = areas.map(
    ({ area, rows }) => `${look.paint.strong(area)}\n${rows.flatMap((row) => linesOf(row, look)).join('\n')}`,
  );
  const rows = areas.flatMap((area) => area.rows);
  const done = mended.length === 0 ? [] : [mendedLines(mended, look)];
  const last = mended.length === 0 ? 'Nothing was changed.' : 'Only what is above under "fixed" was changed.';
  return `${[...done, ...sections, summary(rows, healthy, last, look)].join('\n\n')}\n`;
}

function mendedLines(mended: readonly Mended[], { paint, columns, home }: Look): string {
  const lines = mended.flatMap(({ found, fix, problem }) => {
    const word =
      problem === null ? paint.good('done'.padEnd(STATE_WIDTH)) : paint.bad('failed'.padEnd(STATE_WIDTH));
    const text = `${shortened(plain(found), home)} → ${fix}${problem === null ? '' : `: ${plain(problem)}`}`;
    const [first = '', ...more] = wrap(text, columns - INDENT);
    return [`  ${word}  ${first}`, ...more.map((line) => `${' '.repeat(INDENT)}${line}`)];
  });
  return [paint.strong('fixed'), ...lines].join('\n');
}

function linesOf(row: CheckRow, { paint, columns, home }: Look): string[] {
  const indent = INDENT + NAME_WIDTH + 2;
  const [first = '', ...more] = wrap(shortened(plain(row.found), home), columns - indent);
  return [
    `  ${paintCheck(paint, row.state)}  ${row.name.padEnd(NAME_WIDTH)}  ${first}`,
    ...more.map((text) => `${' '.repeat(indent)}${text}`),
    ...fixLines(row, { columns, home }).map((text) => `${' '.repeat(INDENT)}${text}`),
  ];
}

/** A command is never broken, so that it can be copied. */
function fixLines({ fix }: CheckRow, { columns, home }: Pick<Look, 'columns' | 'home'>): string[] {
  if (fix === null) return [];
  const lines =
    'command' in fix
      ? [shortened(plain(fix.command), home)]
      : wrap(shortened(plain(fix.advice), home), columns - INDENT - 2);
  return lines.map((text, index) => `${index === 0 ? '→' : ' '} ${text}`);
}

function fixText({ fix }: CheckRow): string | null {
  if (fix === null) return null;
  return 'command' in fix ? fix.command : fix.advice;
}

/** A shell reads it the same: only where a word begins, which a quoted one does not. */
function shortened(text: string, home: string): string {
  if (home.length < 2) return text;
  return text
    .split(' ')
    .map((word) => (word.startsWith(`${home}/`) ? `~${word.slice(home.length)}` : word))
    .join(' ');
}

function paintCheck(paint: Paint, state: CheckState): string {
  const paints = { ok: paint.good, warning: paint.warn, failed: paint.bad, unknown: paint.warn };
  return paints[state](state.padEnd(STATE_WIDTH));
}

function summary(
  rows: readonly CheckRow[],
  healthy: boolean,
  last: string,
  { paint, columns }: Look,
): string {
  const count = (wanted: CheckState) => rows.filter(({ state }) => state === wanted).length;
  const counts = [
    [count('failed'), 'failed'],
    [count('unknown'), 'unknown'],
    [count('warning'), count('warning') === 1 ? 'warning' : 'warnings'],
  ] as const;
  const troubles = counts.filter(([number]) => number > 0).map((pair) => pair.join(' '));
  const all = troubles.length === 0 ? 'all is well' : troubles.join(', ');
  const verdict = healthy ? paint.good('ready to work') : paint.bad('not ready to work');
  const more = wrap(`Logins were not checked. ${last}`, columns).map((text) => paint.faint(text));
  return [`${verdict}: ${all}`, ...more].join('\n');
}
