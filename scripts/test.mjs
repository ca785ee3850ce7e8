// Everything: build, the static half of the gate, every test. The last line is always "N passed, N failed, N skipped";
// a step that failed (or a test run that ended without a result) counts as one failure.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runLoudly, runSteps, STATIC_STEPS } from './lib/steps.mjs';

const folder = mkdtempSync(join(tmpdir(), 'agentorchestr-test-run-'));
const countsFile = join(folder, 'counts.json');

const failedSteps = [
  ...(await runSteps([{ name: 'build', command: ['node', 'scripts/build.mjs'] }], { parallel: 1 })),
  ...(await runSteps(STATIC_STEPS, { parallel: 2 })),
];
const code = await runLoudly(['vitest', 'run', ...process.argv.slice(2)], { TEST_COUNTS_FILE: countsFile });

const counts = readCounts() ?? { passed: 0, failed: 0, skipped: 0, flaky: [] };
const unexplained = code !== 0 && counts.failed === 0 ? 1 : 0;
const failed = counts.failed + failedSteps.length + unexplained;
rmSync(folder, { recursive: true });
if (failedSteps.length > 0) console.log(`failed steps: ${failedSteps.join(', ')}`);
for (const name of counts.flaky) console.log(`passed on its second try: ${name}`);
console.log(`${counts.passed} passed, ${failed} failed, ${counts.skipped} skipped`);
process.exitCode = failed === 0 ? 0 : 1;

function readCounts() {
  try {
    return JSON.parse(readFileSync(countsFile, 'utf8'));
  } catch {
    return null;
  }
}
