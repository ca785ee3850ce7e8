import { LEAD_ID } from '../../core/ids.js';
import { windowCapacity, type WindowSize } from './layout.js';
import type { PaneRow } from './panes.js';

/** Where the next agent goes. */
export type Place =
  /** Into this pane, whose program (the placeholder, or an ended lead) is replaced. */
  | { readonly kind: 'respawn'; readonly pane: PaneRow }
  /** Beside `beside`; `replaces` is an ended worker's pane that then goes. */
  | {
      readonly kind: 'split';
      readonly beside: PaneRow;
      readonly before: boolean;
      readonly replaces: PaneRow | null;
    }
  | { readonly kind: 'window'; readonly number: number };

/** The lead's place is the first pane of the first window. */
export function placeForLead(panes: readonly PaneRow[]): Place {
  const first = panes.find((pane) => pane.windowNumber === 1);
  if (first === undefined) return { kind: 'window', number: 1 };
  if (isLeadSlot(first)) return { kind: 'respawn', pane: first };
  return { kind: 'split', beside: first, before: true, replaces: null };
}

/** One that is alone has the lead's place, where whoever attaches looks first. */
export function placeForOnly(panes: readonly PaneRow[], isReusable: (pane: PaneRow) => boolean): Place {
  const first = panes.find((pane) => pane.windowNumber === 1);
  const isFree = first !== undefined && (isLeadSlot(first) || isReusable(first));
  return isFree ? { kind: 'respawn', pane: first } : placeForWorker(panes, isReusable);
}

/**
 * The lowest of our windows with room. A window has room while it holds fewer panes than its size allows, or when an
 * ended worker's pane in it may go (`isReusable`: its text is kept).
 */
export function placeForWorker(panes: readonly PaneRow[], isReusable: (pane: PaneRow) => boolean): Place {
  const windows = new Map<number, PaneRow[]>();
  for (const pane of panes) {
    if (pane.windowNumber === null) continue;
    windows.set(pane.windowNumber, [...(windows.get(pane.windowNumber) ?? []), pane]);
  }
  for (const [number, inWindow] of [...windows].sort(([a], [b]) => a - b)) {
    const last = inWindow.at(-1);
    if (last === undefined) continue;
    if (inWindow.length < windowCapacity(sizeOf(last), number === 1))
      return { kind: 'split', beside: last, before: false, replaces: null };
    const ended = inWindow.find((pane) => !isLeadSlot(pane) && isReusable(pane));
    if (ended !== undefined) return { kind: 'split', beside: ended, before: false, replaces: ended };
  }
  let number = 2;
  while (windows.has(number)) number++;
  return { kind: 'window', number };
}

/** The panes of one of our windows, in order. */
export interface Group {
  readonly number: number;
  readonly panes: readonly PaneRow[];
}

/** The same panes in the same order, in as few windows of that size as they fit in. */
export function groupsFor(panes: readonly PaneRow[], size: WindowSize): readonly Group[] {
  const ours = panes
    .filter((pane) => pane.windowNumber !== null)
    .toSorted((a, b) => (a.windowNumber ?? 0) - (b.windowNumber ?? 0));
  const groups: Group[] = [];
  let number = ours[0]?.windowNumber === 1 ? 1 : 2;
  for (let from = 0; from < ours.length; number++) {
    const capacity = windowCapacity(size, number === 1);
    groups.push({ number, panes: ours.slice(from, from + capacity) });
    from += capacity;
  }
  return groups;
}

export function windowName(number: number): string {
  return number === 1 ? 'agentorchestr' : `agentorchestr-${number}`;
}

export function sizeOf(pane: PaneRow): WindowSize {
  return { columns: pane.columns, rows: pane.rows };
}

/** The placeholder that stands there before the lead is marked as the lead's, too. */
function isLeadSlot(pane: PaneRow): boolean {
  return pane.windowNumber === 1 && pane.workerId === LEAD_ID;
}
