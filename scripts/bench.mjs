// `npm run bench`: the figures of this machine, as a table or (-- --json) as JSON; -- --save puts them into
// docs/reference/performance.md, a section for each file that ran. Other arguments choose: a file's name, or `-t G20`.
// Nothing fails by a figure: limits are for tests.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, release, tmpdir, type } from 'node:os';
import { join } from 'node:path';
import { runLoudly } from './lib/steps.mjs';

const args = process.argv.slice(2);
const OWN = ['--json', '--save'];
const PAGE = new URL('../docs/reference/performance.md', import.meta.url);
if (args.includes('--save') && args.some((arg) => arg.startsWith('-') && !OWN.includes(arg))) {
  console.error('error: --save is for whole files\nhint: leave the other flags out');
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

/** The page with the sections of the files that ran put in place of what they were. */
function page(all) {
  const machine = `${availableParallelism()} cores, ${type()} ${release().split('-')[0]}, Node ${process.versions.node}`;
  const when = `Measured ${new Date().toISOString().slice(0, 10)} on ${machine}.`;
  return readFileSync(PAGE, 'utf8').replace(
    /(<!-- figures -->\n)([^]*)(<!-- end of figures -->)/,
    (_, begin, before, end) => {
      const sections = new Map(
        before
          .split(/^### /m)
          .slice(1)
          .map((text) => [text.slice(0, text.indexOf('\n')), `### ${text.trim()}`]),
      );
      for (const file of new Set(all.map((row) => row.file))) {
        const own = table(all.filter((row) => row.file === file));
        sections.set(file, `### ${file}\n\n${when}\n\n${own}`);
      }
      const sorted = [...sections].sort(([a], [b]) => a.localeCompare(b, 'en')).map(([, text]) => text);
      return `${begin}\n${sorted.join('\n\n')}\n\n${end}`;
    },
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
