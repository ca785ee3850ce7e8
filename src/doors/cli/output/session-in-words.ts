import type { SessionListing } from '../host.js';
import { oneLine } from './plain.js';

const GOAL_CHARACTERS = 60;

export function sessionInWords({ session_id: id, state, goal }: SessionListing): string {
  return `${id} (${state}) ${oneLine(goal, GOAL_CHARACTERS)}`;
}
