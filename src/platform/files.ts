import { randomBytes } from 'node:crypto';
import { constants, mkdirSync } from 'node:fs';
import { appendFile, chmod, lstat, mkdir, open, readFile, rename, rm, rmdir } from 'node:fs/promises';
import { dirname, join, basename } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { currentUserId } from './paths.js';

/**
 * Makes a folder and those above it that are missing, 0700. Not Node's own `recursive`: where the system makes no folder
 * at all (/proc) that one never ends. Throws what mkdir throws.
 */
export function makeFolders(path: string): void {
  const make = () => {
    try {
      mkdirSync(path, { mode: 0o700 });
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
  };
  try {
    make();
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT' || dirname(path) === path) throw error;
    makeFolders(dirname(path));
    make();
  }
}

/**
 * Makes `path` (and missing parents) as a folder of mode 0700 that is ours. An existing one must be a real folder,
 * owned by us; its mode is tightened. Throws UNSAFE_DIRECTORY for a symlink, a foreign owner or something else,
 * FOLDER_NOT_MADE.
 */
export async function ensurePrivateDirectory(path: string): Promise<void> {
  const notMade = (error: NodeJS.ErrnoException) =>
    new OrchestratorError('FOLDER_NOT_MADE', { path, problem: error.message }, { cause: error });
  try {
    makeFolders(dirname(path));
  } catch (error) {
    throw notMade(error as NodeJS.ErrnoException);
  }
  await mkdir(path, { mode: 0o700 }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw notMade(error);
  });
  const info = await lstat(path);
  if (info.isSymbolicLink())
    throw new OrchestratorError('UNSAFE_DIRECTORY', { path, problem: 'it is a symbolic link' });
  if (!info.isDirectory())
    throw new OrchestratorError('UNSAFE_DIRECTORY', { path, problem: 'it is not a directory' });
  if (info.uid !== currentUserId())
    throw new OrchestratorError('UNSAFE_DIRECTORY', { path, problem: `it belongs to user ${info.uid}` });
  if ((info.mode & 0o077) !== 0) await chmod(path, 0o700);
}

/** Writes a file whole or not at all: a temporary file beside it, mode 0600 unless told, synced, renamed into place. */
export async function writeFileAtomic(
  path: string,
  content: string | Uint8Array,
  mode = 0o600,
): Promise<void> {
  const temporary = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`);
  const file = await open(
    temporary,
    constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW,
    mode,
  );
  try {
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}

/** The text of a file, or null when it does not exist. Throws FILE_NOT_READABLE for anything else, invalid UTF-8 included. */
export async function readTextFile(path: string): Promise<string | null> {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(await readFile(path));
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return null;
    const problem = error instanceof TypeError ? 'it is not valid UTF-8' : (error as Error).message;
    throw new OrchestratorError('FILE_NOT_READABLE', { path, problem }, { cause: error });
  }
}

/** Makes an empty file (0600) where there is none; returns its path. */
export async function ensureFile(path: string): Promise<string> {
  await appendFile(path, '', { mode: 0o600 });
  return path;
}

export async function appendLine(path: string, line: string): Promise<void> {
  await appendFile(path, `${line}\n`, { mode: 0o600 });
}

export async function removeFile(path: string): Promise<void> {
  await rm(path, { force: true });
}

/** Throws when something is in it. */
export async function removeEmptyFolder(path: string): Promise<void> {
  await rmdir(path);
}

/** Of exactly this file or folder: a link is refused. */
export async function setMode(path: string, mode: number): Promise<void> {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW);
  try {
    await file.chmod(mode);
  } finally {
    await file.close();
  }
}

export async function removeTree(path: string): Promise<void> {
  await rm(path, { recursive: true, force: true, maxRetries: 3 });
}
