import { defineConfig } from 'vitest/config';

const project = (name: string, options: { timeoutMs: number; parallel: boolean }) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: options.timeoutMs,
    hookTimeout: options.timeoutMs,
    fileParallelism: options.parallel,
  },
});

export default defineConfig({
  test: {
    projects: [
      project('unit', { timeoutMs: 10_000, parallel: true }),
      project('architecture', { timeoutMs: 60_000, parallel: true }),
      project('contract', { timeoutMs: 60_000, parallel: true }),
      project('integration', { timeoutMs: 60_000, parallel: true }),
      project('e2e', { timeoutMs: 180_000, parallel: false }),
    ],
  },
});
