import type { SessionRow } from '../../core/state/rows.js';
import type { Reader } from '../../store/contract.js';
import { hasBegun, shownState } from '../supervise/shown-state.js';
import type { DoctorDeps } from './deps.js';
import { atMost, ok, warning, type CheckRow } from './row.js';

const MOST_SESSIONS = 10_000;
const GOAL_CHARACTERS = 40;

export interface SeenSession {
  readonly row: SessionRow;
  /** `crashed`: active, with a dead owner. */
  readonly shown: string;
}

export function sessionsOf(reader: Reader): SeenSession[] {
  return reader.sessions(MOST_SESSIONS).map((row) => ({ row, shown: shownState(reader, row) }));
}

/** Those that say they are at work while nobody owns them. */
export async function checkSessions({ database }: DoctorDeps): Promise<readonly CheckRow[]> {
  const subject = { name: 'sessions' };
  const { reader } = await database();
  const sessions = sessionsOf(reader);
  const stale = sessions
    .filter(({ shown }) => shown === 'crashed')
    .map(({ row }) => crashed(row, hasBegun(reader, row)));
  if (stale.length > 0) return atMost(stale, subject.name);
  if (sessions.length === 0) return [ok(subject, 'none yet')];
  const active = sessions.filter(({ shown }) => shown === 'active').length;
  return [ok(subject, `${sessions.length}, ${active} of them at work; none was left behind`)];
}

function crashed({ session_id: id, goal }: SessionRow, isResumable: boolean): CheckRow {
  const line = goal.replace(/\s+/g, ' ').trim();
  const short = line.length > GOAL_CHARACTERS ? `${line.slice(0, GOAL_CHARACTERS)}…` : line;
  return warning({ name: 'sessions' }, `${id} lost its supervisor ("${short}")`, {
    command: `agentorchestr ${isResumable ? '--resume' : 'clean'} ${id}`,
  });
}
