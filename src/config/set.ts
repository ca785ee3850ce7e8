import { lstat, mkdir, realpath } from 'node:fs/promises';
import { dirname } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { ensurePrivateDirectory, readTextFile, writeFileAtomic } from '../platform/files.js';
import { withFileLock } from '../platform/locks.js';
import { withValue, withoutValue } from './edit.js';
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

/** Takes one key out of that file, also one that nobody knows. Throws SETTINGS_INVALID; then the file is as it was. */
export async function unsetSetting(
  places: { config: string; project: string },
  kind: FileKind,
  path: readonly string[],
): Promise<{ file: string; wasSet: boolean }> {
  const file = kind === 'user' ? userConfigFile(places.config) : projectConfigFile(places.project);
  const text = await readTextFile(file);
  const wasSet = text !== null && withoutValue(parseToml(file, text), path) !== null;
  if (!wasSet) return { file, wasSet };
  const change = { path, value: null };
  await (kind === 'user' ? setInUserFile(places.config, change) : setInProjectFile(places.project, change));
  return { file, wasSet };
}

interface Change {
  readonly path: readonly string[];
  /** null: it is taken out. */
  readonly value: SettingValue | null;
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
  // Less is never worse than before: it is how a key that is wrong gets out of the file.
  if (change.value === null) return withoutValue(file, change.path) ?? file.text;
  const problem = problemOf(change.path, change.value, kind);
  if (problem !== null) throw invalid(file, change.path, problem);
  const text = withValue(file, change.path, change.value);
  // What was wrong with the file before is said before anything is written.
  valuesOfFile(parseToml(path, text), kind);
  return text;
}
