import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.js';

interface ProjectOptions {
  readonly timeoutMs: number;
  /** false: whole products, two files at a time, after everything else. */
  readonly parallel: boolean;
  readonly globalSetup?: string;
}

const project = (name: string, options: ProjectOptions) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: options.timeoutMs,
    hookTimeout: options.timeoutMs,
    ...(options.parallel ? {} : { maxWorkers: 2 }),
    sequence: { groupOrder: options.parallel ? 0 : 1 },
    ...(options.globalSetup === undefined ? {} : { globalSetup: options.globalSetup }),
  },
});

/** Installs them where they are missing. */
const REAL_AGENTS = 'test/support/real-agents/setup.ts';

export default defineConfig({
  test: {
    reporters: ['default', new SummaryReporter()],
    projects: [
      project('unit', { timeoutMs: 10_000, parallel: true }),
      project('architecture', { timeoutMs: 60_000, parallel: true }),
      project('integration', { timeoutMs: 60_000, parallel: true }),
      project('e2e', { timeoutMs: 180_000, parallel: false }),
      project('contract', { timeoutMs: 240_000, parallel: false, globalSetup: REAL_AGENTS }),
      project('real-agents', { timeoutMs: 240_000, parallel: false, globalSetup: REAL_AGENTS }),
    ],
  },
});
