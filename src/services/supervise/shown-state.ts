import { LEAD_ID, ONLY_WORKER } from '../../core/ids.js';
import type { SessionRow } from '../../core/state/rows.js';
import { isSameProcessAlive } from '../../platform/identity.js';
import type { Reader } from '../../store/contract.js';

/** `active` with a dead owner is `crashed`. Kept apart from the report's schema: lists of sessions load no schema library. */
export function shownState(reader: Reader, row: SessionRow): string {
  if (row.state !== 'active') return row.state;
  const owner = reader.lease(row.session_id);
  return owner !== null && isSameProcessAlive(owner) ? 'active' : 'crashed';
}

/**
 * What can be taken up again: everything that did not reach its goal, is not at work, was not cleaned, and had an agent
 * and panes to go on in. `shown`: what `shownState` says of it.
 */
export function isResumable(reader: Reader, row: SessionRow, shown: string): boolean {
  if (shown === 'active' || shown === 'done' || row.cleaned_at !== null) return false;
  return hasBegun(reader, row) && !isOnForeignTerminal(row.options);
}

/** Its first agent was there: before that there is nothing to go on with. */
export function hasBegun(reader: Reader, row: SessionRow): boolean {
  return reader.worker(row.session_id, modeOf(row) === 'manual' ? ONLY_WORKER : LEAD_ID) !== null;
}

export function modeOf({ options }: SessionRow): 'goal' | 'manual' {
  const plan = options['plan'] as { mode?: unknown } | undefined;
  return plan?.mode === 'manual' ? 'manual' : 'goal';
}

/** Its agent had the terminal of the command line that started it. */
function isOnForeignTerminal(options: SessionRow['options']): boolean {
  const plan = options['plan'] as { worker_backend?: unknown } | undefined;
  return plan?.worker_backend === 'foreground';
}
