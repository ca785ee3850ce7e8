import { writeFileSync, writeSync } from 'node:fs';
import type { SerializedError } from 'vitest';
import type { Reporter, TestModule, TestSuite } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Ends a run with the plain line "N passed, N failed, N skipped", after everything else that vitest prints.
 * What fails outside a test (an import, a hook, an unhandled rejection) counts as a failure.
 * With TEST_COUNTS_FILE set it writes the counts there instead, for scripts/test.mjs.
 */
export class SummaryReporter implements Reporter {
  #counts: Counts = { passed: 0, failed: 0, skipped: 0 };

  onInit(): void {
    const file = process.env['TEST_COUNTS_FILE'];
    process.once('exit', () => {
      if (file === undefined) writeSync(1, `${summaryLine(this.#counts)}\n`);
    });
  }

  onTestRunEnd(modules: readonly TestModule[], unhandledErrors: readonly SerializedError[]): void {
    this.#counts = countTests(modules, unhandledErrors.length);
    const file = process.env['TEST_COUNTS_FILE'];
    if (file !== undefined) writeFileSync(file, JSON.stringify(this.#counts));
  }
}

function countTests(modules: readonly TestModule[], unhandledErrors: number): Counts {
  const counts: Counts = { passed: 0, failed: unhandledErrors, skipped: 0 };
  for (const module of modules) {
    counts.failed += module.errors().length;
    for (const suite of module.children.allSuites()) counts.failed += suiteErrors(suite);
    for (const test of module.children.allTests()) {
      const state = test.result().state;
      counts[state === 'pending' ? 'failed' : state] += 1;
    }
  }
  return counts;
}

const suiteErrors = (suite: TestSuite): number => suite.errors().length;

const summaryLine = (counts: Counts): string =>
  `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped`;
