import { isExecutableFile } from '../../platform/find-program.js';
import { runProcess } from '../../platform/process.js';
import type { DoctorDeps } from './deps.js';
import { ok, warning, type CheckRow } from './row.js';

const INFOCMP_LIMIT_MS = 3_000;

export function checkLocale({ env }: DoctorDeps): Promise<readonly CheckRow[]> {
  const subject = { name: 'locale' };
  const variable = ['LC_ALL', 'LC_CTYPE', 'LANG'].find((name) => (env[name] ?? '') !== '');
  const value = variable === undefined ? '' : (env[variable] ?? '');
  if (/utf-?8/i.test(value)) return Promise.resolve([ok(subject, `${variable}=${value}`)]);
  const found =
    variable === undefined
      ? 'neither LC_ALL, LC_CTYPE nor LANG is set: agents may draw wrong characters'
      : `${variable}=${value} is not UTF-8: agents may draw wrong characters`;
  return Promise.resolve([warning(subject, found, { command: `export ${variable ?? 'LANG'}=C.UTF-8` })]);
}

export async function checkShell({ env }: DoctorDeps): Promise<readonly CheckRow[]> {
  const path = env['SHELL'] ?? '';
  const subject = { name: 'shell', path: path === '' ? null : path };
  const fix = { command: 'export SHELL=/bin/sh' };
  if (path === '') return [warning(subject, 'SHELL is not set; tmux and agents then take /bin/sh', fix)];
  if (!path.startsWith('/') || !(await isExecutableFile(path)))
    return [warning(subject, `SHELL=${path} is no program that can be run`, fix)];
  return [ok(subject, path)];
}

export async function checkTerminal({ env }: DoctorDeps): Promise<readonly CheckRow[]> {
  const subject = { name: 'TERM' };
  const term = env['TERM'] ?? '';
  const fix = { command: 'export TERM=xterm-256color' };
  if (term === '' || term === 'dumb') {
    const found = `${term === '' ? 'not set' : term}: the panes cannot be shown here (--no-attach can)`;
    return [warning(subject, found, fix)];
  }
  const { exitCode } = await runProcess('infocmp', [term], { env, timeoutMs: INFOCMP_LIMIT_MS });
  if (exitCode !== null && exitCode !== 0)
    return [warning(subject, `this machine does not know the terminal ${term}: attach would fail`, fix)];
  return [ok(subject, term)];
}
