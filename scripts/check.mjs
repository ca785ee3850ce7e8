// The gate: everything that must be green before a commit, in about a minute on two cores.
import { runSteps, STATIC_STEPS } from './lib/steps.mjs';

const TESTS = {
  name: 'unit and architecture tests',
  command: ['vitest', 'run', '--project', 'unit', '--project', 'architecture'],
};

const failed = await runSteps([TESTS, ...STATIC_STEPS], { parallel: 2 });
console.log(failed.length === 0 ? 'check passed' : `check failed: ${failed.join(', ')}`);
process.exitCode = failed.length === 0 ? 0 : 1;
