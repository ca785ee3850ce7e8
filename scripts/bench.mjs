// `npm run bench`: the figures of this machine, as a table or (-- --json) as JSON; -- --save puts them into
// docs/reference/performance.md. Other arguments choose: a file's name, or `-t G20`. Nothing fails by a figure: limits
// are for tests.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, release, tmpdir, type } from 'node:os';
import { join } from 'node:path';
import { runLoudly } from './lib/steps.mjs';

const args = process.argv.slice(2);
const OWN = ['--json', '--save'];
const PAGE = new URL('../docs/reference/performance.md', import.meta.url);
if (args.includes('--save') && args.some((arg) => !OWN.includes(arg))) {
  console.error('error: --save is for the whole bench\nhint: leave the other arguments out');
  process.exit(64);
}
const folder = mkdtempSync(join(tmpdir(), 'agentorchestr-bench-'));
const file = join(folder, 'rows');
writeFileSync(file, '');
const vitest = ['vitest', 'run', '--config', 'vitest.bench.config.ts', '--reporter', 'verbose'];
const code = await runLoudly(
  [...vitest, ...args.filter((arg) => !OWN.includes(arg))],
  { BENCH_ROWS: file },
  2,
);
const rows = readFileSync(file, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line));
rmSync(folder, { recursive: true });
rows.sort((a, b) => a.goal.localeCompare(b.goal, 'en', { numeric: true }));
if (args.includes('--save') && code === 0) writeFileSync(PAGE, page(rows));
if (args.includes('--json')) console.log(JSON.stringify(rows, null, 2));
else console.log(table(rows));
process.exitCode = code;

function page(all) {
  const machine = `${availableParallelism()} cores, ${type()} ${release().split('-')[0]}, Node ${process.versions.node}`;
  return readFileSync(PAGE, 'utf8').replace(
    /(<!-- figures -->\n)[^]*(<!-- end of figures -->)/,
    (_, begin, end) =>
      `${begin}\nMeasured ${new Date().toISOString().slice(0, 10)} on ${machine}.\n\n${table(all)}\n\n${end}`,
  );
}

function table(all) {
  const head = ['goal', 'what', 'ours', 'rival', 'ratio', 'target', 'met'];
  const lines = all.map(({ goal, what, unit, ours, rival, ratio, target, met }) => [
    goal,
    what,
    `${short(ours)} ${unit}`,
    rival === null ? '' : `${short(rival)} ${unit}`,
    ratio === null ? '' : `${short(ratio)}x`,
    target ?? '',
    met === null ? '' : met ? 'yes' : 'no',
  ]);
  const widths = head.map((name, column) =>
    Math.max(name.length, ...lines.map((line) => line[column].length)),
  );
  const text = (line) => `| ${line.map((cell, column) => cell.padEnd(widths[column])).join(' | ')} |`;
  return [text(head), text(widths.map((width) => '-'.repeat(width))), ...lines.map(text)].join('\n');
}

/** Three figures that count. */
function short(value) {
  if (value === null) return '?';
  return value >= 100 ? value.toFixed(0) : value.toPrecision(3);
}
