import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.js';

interface ProjectOptions {
  readonly timeoutMs: number;
  /** Whole products come after everything else, two files at a time. */
  readonly last: boolean;
  readonly globalSetup?: string;
  /** Its tests drive processes of others on a machine that may be busy. */
  readonly secondTry: boolean;
}

const project = (name: string, options: ProjectOptions) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: options.timeoutMs,
    hookTimeout: options.timeoutMs,
    // Most of the time is waiting: on two cores two files at a time, which is one more than is usual.
    maxWorkers: options.last ? 2 : Math.max(2, availableParallelism() - 1),
    sequence: { groupOrder: options.last ? 1 : 0 },
    // Only where nobody is there to look. The summary names each test that needed it: a bug with an owner all the same.
    retry: options.secondTry && process.env['CI'] !== undefined ? 1 : 0,
    ...(options.globalSetup === undefined ? {} : { globalSetup: options.globalSetup }),
  },
});

/** Installs them where they are missing. */
const REAL_AGENTS = 'test/support/real-agents/setup.ts';

export default defineConfig({
  test: {
    reporters: ['default', new SummaryReporter()],
    projects: [
      project('unit', { secondTry: false, timeoutMs: 10_000, last: false }),
      project('architecture', { secondTry: false, timeoutMs: 60_000, last: false }),
      project('integration', { secondTry: true, timeoutMs: 60_000, last: false }),
      project('e2e', { secondTry: true, timeoutMs: 180_000, last: true }),
      project('contract', { secondTry: true, timeoutMs: 240_000, last: true, globalSetup: REAL_AGENTS }),
      project('real-agents', { secondTry: true, timeoutMs: 240_000, last: true, globalSetup: REAL_AGENTS }),
    ],
  },
});
