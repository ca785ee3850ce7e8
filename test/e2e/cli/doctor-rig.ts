import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { CliRig, RunOptions } from './rig.js';

export interface Row {
  readonly area: string;
  readonly name: string;
  readonly state: 'ok' | 'warning' | 'failed' | 'unknown';
  readonly found: string;
  readonly version: string | null;
  readonly path: string | null;
  readonly fix: string | null;
}

export interface Checked {
  readonly code: number | null;
  readonly healthy: boolean;
  readonly rows: readonly Row[];
  /** Rows of this name. */
  of(name: string): readonly Row[];
  /** `state found` of the rows that are not ok. */
  readonly troubles: readonly string[];
}

/** What a healthy terminal has, whatever machine the test runs on. */
export const TERMINAL = {
  LANG: 'C.UTF-8',
  LC_ALL: undefined,
  LC_CTYPE: undefined,
  SHELL: '/bin/sh',
  TERM: 'xterm',
  ...Object.fromEntries(
    ['http_proxy', 'HTTP_PROXY', 'all_proxy', 'ALL_PROXY', 'no_proxy', 'NO_PROXY'].map((name) => [
      name,
      undefined,
    ]),
  ),
};

/** Runs `--doctor --json`; checks what holds for every run: JSON alone, a fix for all that is not well, the exit code. */
export async function check(rig: CliRig, options: RunOptions = {}): Promise<Checked> {
  const env = { ...TERMINAL, ...options.env };
  const { code, stdout, stderr } = await rig.run(['--doctor', '--json'], { ...options, env });
  const { healthy, checks } = JSON.parse(stdout) as { healthy: boolean; checks: Row[] };
  expect(stderr).toBe('');
  expect(checks.filter(({ state, fix }) => (state === 'ok') !== (fix === null))).toEqual([]);
  expect(healthy).toBe(checks.every(({ state }) => state !== 'failed'));
  expect(code).toBe(healthy ? 0 : 1);
  return {
    code,
    healthy,
    rows: checks,
    of: (name) => checks.filter((row) => row.name === name),
    troubles: troublesOf(checks),
  };
}

export const troublesOf = (checks: readonly Pick<Row, 'state' | 'found'>[]): readonly string[] =>
  checks.filter(({ state }) => state !== 'ok').map(({ state, found }) => `${state} ${found}`);

export function words(rig: CliRig, env: RunOptions['env'] = {}) {
  return rig.run(['--doctor'], { env: { ...TERMINAL, ...env } });
}

/** Types a fix as a person would. */
export function type(rig: CliRig, command: string | null | undefined, env: NodeJS.ProcessEnv = {}): string {
  return execFileSync('/bin/sh', ['-c', command ?? 'exit 1'], {
    env: { ...rig.env, ...env },
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Everything below a folder with kind, size, mode and time of change. Folders named in `loose` count by their content only. */
export function listing(root: string, loose: readonly string[] = []): string[] {
  const paths = ['', ...readdirSync(root, { recursive: true, encoding: 'utf8' })].toSorted();
  return paths.map((path) => {
    const info = lstatSync(join(root, path));
    const time = loose.includes(path) ? 'loose' : String(info.mtimeMs);
    return `${path} ${info.mode.toString(8)} ${info.size} ${time}`;
  });
}
