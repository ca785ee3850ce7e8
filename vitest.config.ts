import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { SummaryReporter } from './test/support/summary-reporter.js';

const WHEN = ['early', 'last', 'alone'] as const;
const WORKERS = { early: Math.max(2, availableParallelism() - 1), last: 2, alone: 1 };

interface ProjectOptions {
  readonly timeoutMs: number;
  /** `last`: whole products come after everything else, two files at a time; `alone`: and what is measured, after that. */
  readonly when: (typeof WHEN)[number];
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
    maxWorkers: WORKERS[options.when],
    sequence: { groupOrder: WHEN.indexOf(options.when) },
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
      project('unit', { secondTry: false, timeoutMs: 10_000, when: 'early' }),
      project('architecture', { secondTry: false, timeoutMs: 60_000, when: 'early' }),
      project('integration', { secondTry: true, timeoutMs: 60_000, when: 'early' }),
      project('e2e', { secondTry: true, timeoutMs: 180_000, when: 'last' }),
      project('contract', { secondTry: true, timeoutMs: 240_000, when: 'last', globalSetup: REAL_AGENTS }),
      project('bench', { secondTry: true, timeoutMs: 240_000, when: 'alone' }),
      project('real-agents', { secondTry: true, timeoutMs: 240_000, when: 'last', globalSetup: REAL_AGENTS }),
    ],
  },
});
