import { homedir } from 'node:os';
import { EXIT } from '../../../core/errors/categories.js';
import type { Diagnosis } from '../../../services/doctor/diagnose.js';
import type { CheckRow, CheckState } from '../../../services/doctor/row.js';
import type { CliHost } from '../host.js';
import { createPaint, type Paint } from '../output/paint.js';
import { plain } from '../output/plain.js';
import { wrap } from '../output/wrap.js';

export async function doctor(host: CliHost, options: { json: boolean }): Promise<number> {
  const diagnosis = await host.diagnose();
  const text = options.json ? asJson(diagnosis, host.version) : render(diagnosis, host);
  host.terminal.out(text);
  return diagnosis.healthy ? EXIT.ok : EXIT.operation;
}

function asJson({ healthy, areas }: Diagnosis, version: string): string {
  const checks = areas.flatMap(({ area, rows }) => rows.map((row) => ({ area, ...row, fix: fixText(row) })));
  return `${JSON.stringify({ version, healthy, checks }, null, 2)}\n`;
}

const STATE_WIDTH = 7;
const NAME_WIDTH = 15;
const INDENT = 2 + STATE_WIDTH + 2;

function render({ healthy, areas }: Diagnosis, host: CliHost): string {
  const paint = createPaint(host.terminal, host.env, 'stdout');
  // What is piped into a file or a search stays in one line.
  const columns = host.terminal.stdoutIsTty ? host.terminal.columns : Infinity;
  const home = host.env['HOME'] ?? homedir();
  const sections = areas.map(
    ({ area, rows }) =>
      `${paint.strong(area)}\n${rows.map((row) => line(row, { paint, columns, home })).join('\n')}`,
  );
  return `${sections.join('\n\n')}\n\n${summary(
    areas.flatMap(({ rows }) => rows),
    healthy,
    paint,
  )}\n`;
}

function line(row: CheckRow, look: { paint: Paint; columns: number; home: string }): string {
  const { paint, columns, home } = look;
  const name = row.name.padEnd(NAME_WIDTH);
  const found = wrap(short(plain(row.found), home), columns - INDENT - NAME_WIDTH - 2);
  const head = `  ${paintCheck(paint, row.state)}  ${name}  `;
  const rest = ' '.repeat(INDENT + NAME_WIDTH + 2);
  return [
    `${head}${found.join(`\n${rest}`)}`,
    ...fixLines(row, columns).map((text) => `${' '.repeat(INDENT)}${text}`),
  ].join('\n');
}

/** A command is never broken, so that it can be copied. */
function fixLines({ fix }: CheckRow, columns: number): string[] {
  if (fix === null) return [];
  const lines = 'command' in fix ? [plain(fix.command)] : wrap(plain(fix.advice), columns - INDENT - 2);
  return lines.map((text, index) => `${index === 0 ? '→' : ' '} ${text}`);
}

function fixText({ fix }: CheckRow): string | null {
  if (fix === null) return null;
  return 'command' in fix ? fix.command : fix.advice;
}

function short(text: string, home: string): string {
  return home.length > 1 ? text.replaceAll(`${home}/`, '~/') : text;
}

function paintCheck(paint: Paint, state: CheckState): string {
  const word = state.padEnd(STATE_WIDTH);
  const paints = { ok: paint.good, warning: paint.warn, failed: paint.bad, unknown: paint.warn };
  return paints[state](word);
}

function summary(rows: readonly CheckRow[], healthy: boolean, paint: Paint): string {
  const count = (state: CheckState) => rows.filter((row) => row.state === state).length;
  const counts = (['failed', 'unknown', 'warning'] as const)
    .filter((state) => count(state) > 0)
    .map((state) => `${count(state)} ${state}`);
  const all = counts.length === 0 ? 'all is well' : counts.join(', ');
  const verdict = healthy ? paint.good('ready to work') : paint.bad('not ready to work');
  return `${verdict}: ${all}. Logins were not checked; nothing was changed.`;
}
