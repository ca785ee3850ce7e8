import { lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { ensurePrivateDirectory, readTextFile, writeFileAtomic } from '../platform/files.js';
import { withFileLock } from '../platform/locks.js';
import { withValue } from './edit.js';
import { projectConfigFile, userConfigFile } from './load.js';
import type { SettingValue } from './schema.js';
import { invalid, parseToml } from './toml-file.js';
import { problemOf, valuesOfFile, type FileKind } from './values.js';

const LOCK_WAIT_MS = 10_000;

/** Changes one key of the user's file, or of the project's. Returns the file. Throws SETTINGS_INVALID; then it is as it was. */
export async function setSetting(
  places: { config: string; project: string },
  kind: FileKind,
  { path, value }: { path: readonly string[]; value: SettingValue },
): Promise<string> {
  return kind === 'user'
    ? setInUserFile(places.config, { path, value })
    : setInProjectFile(places.project, { path, value });
}

interface Change {
  readonly path: readonly string[];
  readonly value: SettingValue;
}

async function setInUserFile(config: string, change: Change): Promise<string> {
  await ensurePrivateDirectory(config);
  const named = userConfigFile(config);
  // Who keeps it as a link (to a folder of such files) keeps the link.
  const file = await realpath(named).catch(() => named);
  const onTimeout = () =>
    new OrchestratorError('TIMED_OUT', { what: `the lock of ${file}`, limit_ms: LOCK_WAIT_MS });
  await withFileLock(file, { waitMs: LOCK_WAIT_MS, onTimeout }, async () =>
    writeFileAtomic(file, await changed(file, 'user', change), 0o600),
  );
  return named;
}

/** It is for everybody who has the project, and leads nowhere else. */
async function setInProjectFile(project: string, change: Change): Promise<string> {
  const file = projectConfigFile(project);
  await mkdir(dirname(file), { recursive: true });
  for (const path of [dirname(file), file])
    if ((await lstat(path).catch(() => null))?.isSymbolicLink() === true)
      throw new OrchestratorError('UNSAFE_DIRECTORY', { path, problem: 'it is a symbolic link' });
  await writeFileAtomic(file, await changed(file, 'project', change), 0o644);
  return file;
}

async function changed(path: string, kind: FileKind, change: Change): Promise<string> {
  const file = parseToml(path, (await readTextFile(path)) ?? '');
  const problem = problemOf(change.path, change.value, kind);
  if (problem !== null) throw invalid(file, change.path, problem);
  const text = withValue(file, change.path, change.value);
  // What was wrong with the file before is said before anything is written.
  valuesOfFile(parseToml(path, text), kind);
  return text;
}
