import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.js';

interface ProjectOptions {
  readonly timeoutMs: number;
  /** Whole products come after everything else, two files at a time. */
  readonly last: boolean;
  readonly globalSetup?: string;
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
    ...(options.globalSetup === undefined ? {} : { globalSetup: options.globalSetup }),
  },
});

/** Installs them where they are missing. */
const REAL_AGENTS = 'test/support/real-agents/setup.ts';

export default defineConfig({
  test: {
    reporters: ['default', new SummaryReporter()],
    projects: [
      project('unit', { timeoutMs: 10_000, last: false }),
      project('architecture', { timeoutMs: 60_000, last: false }),
      project('integration', { timeoutMs: 60_000, last: false }),
      project('e2e', { timeoutMs: 180_000, last: true }),
      project('contract', { timeoutMs: 240_000, last: true, globalSetup: REAL_AGENTS }),
      project('real-agents', { timeoutMs: 240_000, last: true, globalSetup: REAL_AGENTS }),
    ],
  },
});
