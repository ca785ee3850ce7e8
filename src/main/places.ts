import { dirname, join } from 'node:path';
import { sessionDataDirectory, sessionDirectory, worktreesDirectory, type Paths } from '../platform/paths.js';
import type { SessionPlaces } from '../services/places.js';
import { ensurePrivateDirectory } from '../platform/files.js';

export function sessionPlaces(paths: Paths, project: string, sessionId: string): SessionPlaces {
  return {
    directory: sessionDirectory(paths, sessionId),
    data: sessionDataDirectory(paths, sessionId),
    worktrees: worktreesDirectory(paths, project, sessionId),
    trash: join(paths.data, 'trash'),
    imported: join(paths.data, 'imported'),
  };
}

/** Before there is a supervisor to make the rest. Returns the folder. Throws as `ensurePrivateDirectory` does. */
export async function makeSessionData(paths: Paths, sessionId: string): Promise<string> {
  const data = sessionDataDirectory(paths, sessionId);
  await ensurePrivateDirectory(dirname(data));
  await ensurePrivateDirectory(data);
  return data;
}
