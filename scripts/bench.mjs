// `npm run bench`: the figures of this machine, as a table or (-- --json) as JSON. Other arguments choose: a file's name,
// or `-t G20`. Nothing fails by a figure: limits are for tests.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runLoudly } from './lib/steps.mjs';

const args = process.argv.slice(2);
const asJson = args.includes('--json');
const folder = mkdtempSync(join(tmpdir(), 'agentorchestr-bench-'));
const file = join(folder, 'rows');
writeFileSync(file, '');
const vitest = ['vitest', 'run', '--config', 'vitest.bench.config.ts', '--reporter', 'verbose'];
const code = await runLoudly([...vitest, ...args.filter((arg) => arg !== '--json')], { BENCH_ROWS: file }, 2);
const rows = readFileSync(file, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line));
rmSync(folder, { recursive: true });
rows.sort((a, b) => a.goal.localeCompare(b.goal, 'en', { numeric: true }));
if (asJson) console.log(JSON.stringify(rows, null, 2));
else console.log(table(rows));
process.exitCode = code;

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
