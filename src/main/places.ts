import { join } from 'node:path';
import { sessionDataDirectory, sessionDirectory, worktreesDirectory, type Paths } from '../platform/paths.js';
import type { SessionPlaces } from '../services/places.js';

export function sessionPlaces(paths: Paths, project: string, sessionId: string): SessionPlaces {
  return {
    directory: sessionDirectory(paths, sessionId),
    data: sessionDataDirectory(paths, sessionId),
    worktrees: worktreesDirectory(paths, project, sessionId),
    trash: join(paths.data, 'trash'),
    imported: join(paths.data, 'imported'),
  };
}
