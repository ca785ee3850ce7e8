import type { SessionRow } from '../../core/state/rows.js';
import type { HeldRef } from '../../git/contract.js';
import { toOrchestratorError } from '../../core/errors/error.js';
import type { SessionContext } from '../session-context.js';
import type { Cleaning } from './clean-report.js';
import type { LeftTree } from './clean-worktrees.js';
import { recordSalvage, salvageRef } from './keep-work.js';
import { isDelivered } from './left-state.js';

interface Ground {
  readonly repository: string;
  readonly trees: readonly LeftTree[];
  readonly cleaning: Cleaning;
}

/**
 * Deletes the session's branches. Commits that nothing else of the user's holds get a salvage ref first. The result of a
 * goal that was reached stays until it is merged: it is what the session was for.
 */
export async function cleanBranches(session: SessionContext, row: SessionRow, ground: Ground): Promise<void> {
  const { repository, cleaning } = ground;
  const branches = await session.git.sessionBranches(repository, row.session_id);
  const result = branches.find(({ name }) => name === row.integration_branch) ?? null;
  // In a dry run no ref was made, so what it would hold is told.
  const alsoBy = cleaning.dryRun ? cleaning.salvaged.map(({ commit }) => commit) : [];
  const resultStays = result !== null && (await isAwaited(session, row, { repository, result, alsoBy }));
  if (result !== null && resultStays) {
    alsoBy.push(result.commit);
    const reason = `the result is not merged yet: agentorchestr merge ${row.session_id}`;
    cleaning.left.push({ what: result.name, reason, bytes: 0 });
  }
  // The result first: its ref then holds what was integrated into it.
  const inOrder = [...(result === null ? [] : [result]), ...branches.filter((branch) => branch !== result)];
  for (const branch of inOrder) {
    if (branch === result && resultStays) continue;
    if (cleaning.stayingBranches.has(branch.name))
      cleaning.left.push({ what: branch.name, reason: 'its worktree stays', bytes: 0 });
    else await cleanBranch(session, row, { ...ground, branch, alsoBy });
  }
}

async function isAwaited(
  session: SessionContext,
  row: SessionRow,
  { repository, result, alsoBy }: { repository: string; result: HeldRef; alsoBy: readonly string[] },
): Promise<boolean> {
  if (row.state !== 'done' || row.integration_commit === null || isDelivered(row)) return false;
  return !(await session.git.isHeld({ repository, commit: result.commit, alsoBy }));
}

async function cleanBranch(
  session: SessionContext,
  row: SessionRow,
  { repository, trees, cleaning, branch, alsoBy }: Ground & { branch: HeldRef; alsoBy: string[] },
): Promise<void> {
  const { name, commit } = branch;
  const worker = trees.find((tree) => tree.branch === name)?.name ?? name.slice(name.lastIndexOf('/') + 1);
  try {
    if (!(await session.git.isHeld({ repository, commit, alsoBy }))) {
      const wanted = { repository, ref: salvageRef(row.session_id, worker), commit };
      const ref = cleaning.dryRun ? wanted.ref : await session.git.keepCommit(wanted);
      alsoBy.push(commit);
      if (!cleaning.salvaged.some((work) => work.ref === ref))
        cleaning.salvaged.push({ worker, ref, commit, ignored_files: [], kept_in: null, submodules: [] });
      if (!cleaning.dryRun) recordSalvage(session, { worker, ref, commit, submodules: [] });
    }
    if (!cleaning.dryRun) await session.git.deleteBranch({ repository, branch: name });
    cleaning.removed.push({ what: 'branch', name, bytes: 0, note: null });
  } catch (error) {
    cleaning.left.push({ what: name, reason: toOrchestratorError(error).message, bytes: 0 });
  }
}
