import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { OrchestratorError } from '../core/errors/error.js';
import { ensurePrivateDirectory, readTextFile, writeFileAtomic } from '../platform/files.js';
import { withFileLock } from '../platform/locks.js';
import type { Paths } from '../platform/paths.js';

interface ProjectTrust {
  readonly trusted_at: string;
  /** Hashes of the lists of commands that the person agreed to. */
  readonly commands: readonly string[];
}
type TrustFile = Readonly<Record<string, ProjectTrust>>;

const LOCK_WAIT_MS = 10_000;

/** What a person agreed to lies with the user's data, never in a project: project files cannot grant trust. */
export function trustPath(paths: Paths): string {
  return join(paths.data, 'trust.json');
}

export async function isProjectTrusted(paths: Paths, project: string): Promise<boolean> {
  return (await read(paths))[await realpath(project)] !== undefined;
}

export async function trustProject(paths: Paths, project: string, at: string): Promise<void> {
  await change(paths, project, (known) => known ?? { trusted_at: at, commands: [] });
}

export async function areCommandsConsented(
  paths: Paths,
  project: string,
  commands: readonly string[],
): Promise<boolean> {
  const known = (await read(paths))[await realpath(project)];
  return known?.commands.includes(hashOf(commands)) ?? false;
}

/** Only this very list in this very order; any change in the project's files asks again. */
export async function consentToCommands(
  paths: Paths,
  project: string,
  agreed: { commands: readonly string[]; at: string },
): Promise<void> {
  const hash = hashOf(agreed.commands);
  await change(paths, project, (known) => ({
    trusted_at: known?.trusted_at ?? agreed.at,
    commands: [...(known?.commands ?? []).filter((other) => other !== hash), hash],
  }));
}

function hashOf(commands: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(commands)).digest('hex');
}

async function read(paths: Paths): Promise<TrustFile> {
  const path = trustPath(paths);
  const text = await readTextFile(path);
  if (text === null) return {};
  try {
    return JSON.parse(text) as TrustFile;
  } catch (error) {
    const problem = `it is not JSON (${(error as Error).message}); remove it to be asked again`;
    throw new OrchestratorError('FILE_NOT_READABLE', { path, problem }, { cause: error });
  }
}

async function change(
  paths: Paths,
  project: string,
  update: (known: ProjectTrust | undefined) => ProjectTrust,
): Promise<void> {
  const path = trustPath(paths);
  await ensurePrivateDirectory(dirname(path));
  const onTimeout = () =>
    new OrchestratorError('TIMED_OUT', { what: `the lock of ${path}`, limit_ms: LOCK_WAIT_MS });
  await withFileLock(path, { waitMs: LOCK_WAIT_MS, onTimeout }, async () => {
    const file = await read(paths);
    const key = await realpath(project);
    await writeFileAtomic(path, `${JSON.stringify({ ...file, [key]: update(file[key]) }, null, 2)}\n`);
  });
}
