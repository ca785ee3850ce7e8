import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { it } from 'vitest';
import { figure } from './support/rows.js';

/** It downloads three Nodes, and compiles for each. */
const LIMIT_MS = 45 * 60_000;

interface Tried {
  readonly node: string;
  readonly tarballKb: number;
  readonly installS: number;
  readonly installedMb: number;
  readonly demoS: number;
}

it(
  'the package as a user gets it',
  async () => {
    const { stdout } = await promisify(execFile)(process.execPath, ['scripts/package-try.mjs', '--json']);
    for (const { node, tarballKb, installS, installedMb, demoS } of JSON.parse(stdout) as Tried[]) {
      const row = (what: string, ours: number, unit: string) =>
        figure({ goal: 'package', what: `${what}, Node ${node}`, ours, unit });
      row('the tarball', tarballKb, 'kB');
      row('what is installed, all dependencies included', installedMb, 'MB');
      row('npm install --global, SQLite compiled', installS, 's');
      row('the first demo', demoS, 's');
    }
  },
  LIMIT_MS,
);
