import type { ProcessRef } from '../../platform/process-tree.js';

export const AREAS = ['programs', 'agents', 'connections', 'terminal', 'storage', 'sessions'] as const;
export type Area = (typeof AREAS)[number];

/** `failed`: no goal can be worked on like this. `warning`: it can, with something missing. `unknown`: could not be told. */
export type CheckState = 'ok' | 'warning' | 'failed' | 'unknown';

/**
 * What `--doctor --fix` does, of its own, about a row. Only where nobody has to decide: it is ours, it is dead (or ours
 * alone to set), and neither work nor anything of the user's can be lost with it.
 */
export type Mend = { readonly does: string } & (
  | { readonly kind: 'dead socket' | 'unwatched server'; readonly socket: string }
  | { readonly kind: 'process'; readonly process: ProcessRef }
  /** The system refuses as soon as something is in it. */
  | { readonly kind: 'empty folder'; readonly path: string }
  | { readonly kind: 'dead daemon'; readonly path: string }
  | { readonly kind: 'mode'; readonly mode: number; readonly paths: readonly string[] }
);

/** What to do about it: a command to type as it stands, or a sentence. */
export type Fix = { readonly command: string; readonly mend?: Mend } | { readonly advice: string };

export interface CheckRow {
  readonly name: string;
  readonly state: CheckState;
  /** One line for people. */
  readonly found: string;
  readonly version: string | null;
  readonly path: string | null;
  /** null only where all is well. */
  readonly fix: Fix | null;
}

interface Subject {
  readonly name: string;
  readonly version?: string | null;
  readonly path?: string | null;
}

export function ok(subject: Subject, found: string): CheckRow {
  return row(subject, 'ok', found, null);
}

export function warning(subject: Subject, found: string, fix: Fix): CheckRow {
  return row(subject, 'warning', found, fix);
}

export function failed(subject: Subject, found: string, fix: Fix): CheckRow {
  return row(subject, 'failed', found, fix);
}

export function unknown(subject: Subject, found: string, fix: Fix): CheckRow {
  return row(subject, 'unknown', found, fix);
}

function row(subject: Subject, state: CheckState, found: string, fix: Fix | null): CheckRow {
  return {
    name: subject.name,
    state,
    found,
    version: subject.version ?? null,
    path: subject.path ?? null,
    fix,
  };
}

const MOST_OF_A_KIND = 8;

/** Rows of one kind can be many (every session, every worktree); the rest is counted. */
export function atMost(rows: readonly CheckRow[], name: string): readonly CheckRow[] {
  if (rows.length <= MOST_OF_A_KIND + 1) return rows;
  const more = rows.length - MOST_OF_A_KIND;
  return [
    ...rows.slice(0, MOST_OF_A_KIND),
    warning({ name }, `and ${more} more like these`, { advice: 'mend those above, then look again' }),
  ];
}
