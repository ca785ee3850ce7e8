import { dirname, join } from 'node:path';
import { listFolder, pathFacts, type PathFacts } from '../../platform/disk.js';
import { currentUserId } from '../../platform/paths.js';
import { shellQuote } from '../../platform/shell-quote.js';
import type { DoctorDeps } from './deps.js';
import { ok, warning, type CheckRow } from './row.js';
import { chmod } from './storage.js';

const MOST_NAMED = 5;

/** Folders of ours are 0700, files in them 0600; only those that hold secrets or words of people and agents are looked at. */
export async function checkPermissions({ paths }: DoctorDeps): Promise<readonly CheckRow[]> {
  const subject = { name: 'permissions' };
  const found = await whatIsOurs(paths.data, paths.temp);
  const settings = await listFolder(paths.config);
  const mine = currentUserId();
  const own = found.filter(({ owner }) => owner === mine);
  const rows = [
    ...foreign(found.filter(({ owner }) => owner !== mine)),
    ...tooOpen(own, 'directory'),
    ...tooOpen(own, 'file'),
    ...writableByOthers(settings.filter(({ kind, mode }) => kind === 'file' && (mode & 0o022) !== 0)),
  ];
  if (rows.length > 0) return rows;
  if (found.length === 0) return [ok(subject, 'nothing of ours is there yet')];
  return [ok(subject, `${found.length} looked at, all yours alone`)];
}

async function whatIsOurs(data: string, temp: string): Promise<PathFacts[]> {
  const root = await pathFacts(data);
  if (root === null || root.kind !== 'directory') return [];
  const inside = await listFolder(data);
  const sessions = (await listFolder(join(data, 'sessions'))).filter(({ kind }) => kind === 'directory');
  const files = await Promise.all(sessions.map(({ path }) => listFolder(path)));
  // Their names are predictable and the folder is everybody's.
  const ids = new Set(sessions.map(({ path }) => path.slice(dirname(path).length + 1)));
  const rooms = await Promise.all([...ids].map((id) => pathFacts(join(temp, `agentorchestr-${id}`))));
  return [
    root,
    ...inside.filter(({ kind, path }) => kind === 'file' || path === join(data, 'sessions')),
    ...sessions,
    ...files.flat(),
    ...rooms.filter((facts) => facts !== null),
  ];
}

export function tooOpen(found: readonly PathFacts[], kind: 'directory' | 'file'): CheckRow[] {
  const open = found.filter((facts) => facts.kind === kind && (facts.mode & 0o077) !== 0);
  if (open.length === 0) return [];
  const what = `${open.length === 1 ? `this ${word(kind, 1)} is` : `${open.length} ${word(kind, 2)} are`}`;
  const found_ = `${what} open to others: ${named(open)}`;
  return [
    warning({ name: 'permissions', path: open[0]?.path ?? null }, found_, {
      ...chmod(kind === 'file' ? '600' : '700', pathsOf(open)),
      mend: {
        kind: 'mode',
        mode: kind === 'file' ? 0o600 : 0o700,
        paths: pathsOf(open),
        does: 'close it to others',
      },
    }),
  ];
}

export function foreign(found: readonly PathFacts[]): CheckRow[] {
  if (found.length === 0) return [];
  const command = `sudo chown "$(id -u)" ${pathsOf(found).map(shellQuote).join(' ')}`;
  // Somebody may have put them there to be taken for ours.
  const advice = `find out who made them; remove what you do not know, else: ${command}`;
  return [
    warning({ name: 'permissions', path: found[0]?.path ?? null }, `not yours: ${named(found)}`, { advice }),
  ];
}

function writableByOthers(files: readonly PathFacts[]): CheckRow[] {
  if (files.length === 0) return [];
  const found = `others may change your settings: ${named(files)}`;
  return [
    warning({ name: 'permissions', path: files[0]?.path ?? null }, found, chmod('go-w', pathsOf(files))),
  ];
}

function named(found: readonly PathFacts[]): string {
  const shown = found.slice(0, MOST_NAMED).map(({ path, mode }) => `${path} (${mode.toString(8)})`);
  return `${shown.join(', ')}${found.length > MOST_NAMED ? ' …' : ''}`;
}

function pathsOf(found: readonly PathFacts[]): string[] {
  return found.map(({ path }) => path);
}

function word(kind: 'directory' | 'file', count: number): string {
  const one = kind === 'file' ? 'file' : 'folder';
  return count === 1 ? one : `${one}s`;
}
