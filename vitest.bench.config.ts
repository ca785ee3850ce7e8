import { defineConfig } from 'vitest/config';

/** `npm run bench`: figures of this machine, one row each. Nothing is asserted: limits are for tests, as ratios. */
export default defineConfig({
  test: {
    include: ['test/bench/**/*.bench.ts'],
    fileParallelism: false,
    testTimeout: 600_000,
    hookTimeout: 600_000,
  },
});
