import type { GitRoom } from './git-room.js';
export async function salvage(_room: GitRoom, _options: unknown): Promise<never> {
  throw new Error('not there yet');
}
