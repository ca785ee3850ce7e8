import { writeFileSync, writeSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, TestSuite } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
  /** Passed, but not on the first try. */
  flaky: string[];
}

/**
 * Ends a run with the plain line "N passed, N failed, N skipped", after everything else that vitest prints.
 * What fails outside a test (an import, a hook, an unhandled rejection) counts as a failure.
 * With TEST_COUNTS_FILE set it writes the counts there instead, for scripts/test.mjs.
 */
export class SummaryReporter implements Reporter {
  #counts: Counts = { passed: 0, failed: 0, skipped: 0, flaky: [] };

  onInit(): void {
    const file = process.env['TEST_COUNTS_FILE'];
    process.once('exit', () => {
      if (file === undefined) writeSync(1, `${summaryLines(this.#counts).join('\n')}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    this.#counts = countTests(modules, unhandledErrors.length);
    const file = process.env['TEST_COUNTS_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(this.#counts));
  }
}

function countTests(modules: readonly TestModule[], unhandledErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: unhandledErrors, skipped: 0, flaky: [] };
  for (const module of modules) {
    counts.failed += module.errors().length;
    for (const suite of module.children.allSuites()) counts.failed += suiteErrors(suite);
    for (const test of module.children.allTests()) {
      const state = test.result().state;
      counts[state === 'pending' ? 'failed' : state] += 1;
      if (test.diagnostic()?.flaky) counts.flaky.push(`${module.relativeModuleId}: ${test.fullName}`);
    }
  }
  return counts;
}

const suiteErrors = (suite: TestSuite): number => suite.errors().length;

const summaryLines = ({ passed, failed, skipped, flaky }: Counts): string[] => [
  ...flaky.map((name) => `passed on its second try: ${name}`),
  `${passed} passed, ${failed} failed, ${skipped} skipped`,
];
