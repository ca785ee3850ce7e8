import { join } from 'node:path';
import type { SessionRow } from '../../core/state/rows.js';
import type { SalvageOptions, SalvageResult } from '../../git/contract.js';
import { fact } from '../engine/deps.js';
import type { SessionContext } from '../session-context.js';

/** In the session's data folder: ignored files that were kept. They stay when everything else of it goes. */
export const KEPT_FOLDER = 'salvage';

export function salvageRef(sessionId: string, name: string): string {
  return `refs/agentorchestr/salvage/${sessionId}/${name}`;
}

export function keptIgnoredIn(session: SessionContext, name: string): string {
  return join(session.places.data, KEPT_FOLDER, name);
}

interface Tree extends Pick<SalvageOptions, 'worktree' | 'base' | 'branch' | 'unheldOnly' | 'dryRun'> {
  /** Part of its salvage ref: the worker's id, `integration`, or the folder's name. */
  readonly name: string;
  readonly repository: string;
}

/** Keeps what only this worktree holds and records where. null: it holds nothing of its own. See Git.salvage. */
export async function keepWork(
  session: SessionContext,
  row: SessionRow,
  { name, ...tree }: Tree,
): Promise<SalvageResult | null> {
  const kept = await session.git.salvage({
    ...tree,
    ref: salvageRef(row.session_id, name),
    keepIgnoredIn: keptIgnoredIn(session, name),
    project: row.project,
  });
  if (kept !== null && tree.dryRun !== true)
    recordSalvage(session, {
      worker: name,
      ref: kept.ref,
      commit: kept.commit,
      submodules: [...kept.submodules],
    });
  return kept;
}

/** Once for the same work, however often it is kept. */
export function recordSalvage(
  session: SessionContext,
  work: {
    worker: string;
    ref: string;
    commit: string;
    submodules: { path: string; repository: string; ref: string }[];
  },
): void {
  const { store, sessionId } = session;
  const last = store
    .events({ after: 0, sessionId, types: ['work.salvaged'] })
    .findLast(({ data }) => data.ref === work.ref);
  if (last?.data.commit === work.commit) return;
  const { submodules, ...data } = work;
  const subject = { session_id: sessionId, source: 'git', evidence: 'process' } as const;
  store.append(fact('work.salvaged', subject, submodules.length === 0 ? data : work));
}
