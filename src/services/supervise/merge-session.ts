import { OrchestratorError } from '../../core/errors/error.js';
import type { SessionRow } from '../../core/state/rows.js';
import type { ApplyOptions, ProjectFacts } from '../../git/contract.js';
import { fact } from '../engine/deps.js';
import type { SessionContext } from '../session-context.js';
import { isDelivered, leftState, requireLeft } from './left-state.js';

export interface Merged {
  readonly how: string;
  /** It was there before. */
  readonly already: boolean;
  readonly branch: string;
  readonly commit: string;
}

/**
 * Brings the result of a session that is over into the user's checkout, by the rules of `--apply`: nothing of the user's
 * is in the way, or nothing changes. Throws SESSION_NOT_OVER, NOTHING_TO_MERGE, GOAL_NOT_REACHED, CHECKOUT_NOT_SAFE.
 */
export async function mergeSession(
  session: SessionContext,
  { anyway }: { anyway: boolean },
): Promise<Merged> {
  const row = requireLeft(session);
  const { integration_commit: commit, integration_branch: branch } = row;
  if (commit === null || branch === null) throw nothingToMerge(row);
  const state = leftState(row);
  if (state !== 'done' && !anyway)
    throw new OrchestratorError('GOAL_NOT_REACHED', { session: row.session_id, state, branch });
  const worktrees = row.integration_worktree === null ? [] : [row.integration_worktree];
  const recorded = row.repository;
  const repository = (await session.git.locateRepository({ recorded, worktrees })) ?? recorded;
  const facts = await session.git.inspectProject(row.project);
  const { how } = await apply(session, row, {
    facts: await asItBegan(session, row, { facts, repository }),
    base: {
      repository,
      commit: row.base_commit,
      subdirectory: row.subdirectory,
      statement: row.base_statement,
      imported: row.options['imported'] === true,
    },
    resultCommit: commit,
    resultBranch: (await session.git.resolve(repository, `refs/heads/${branch}`)) === null ? commit : branch,
    includedChanges: includesChanges(row),
  });
  const already = how.endsWith(ALREADY);
  if (!already || !isDelivered(row))
    session.store.append(
      fact('result.applied', { session_id: row.session_id, source: 'cli', evidence: 'process' }, { how }),
    );
  return { how, already, branch, commit };
}

/** A difference that was brought home is not told from other changes by git: then the record is asked. */
async function apply(
  session: SessionContext,
  row: SessionRow,
  options: ApplyOptions,
): Promise<{ how: string }> {
  try {
    return await session.git.applyToCheckout(options);
  } catch (error) {
    const byDifference = options.base.imported || options.includedChanges;
    const refused = error instanceof OrchestratorError && error.code === 'CHECKOUT_NOT_SAFE';
    if (!refused || !byDifference || !isDelivered(row)) throw error;
    return { how: `${row.applied}; since then your files have changed, and your checkout ${ALREADY}` };
  }
}

const ALREADY = 'has it already';

function nothingToMerge(row: SessionRow): OrchestratorError {
  return new OrchestratorError('NOTHING_TO_MERGE', { session: row.session_id });
}

function includesChanges(row: SessionRow): boolean {
  const plan = row.options['plan'];
  return (
    typeof plan === 'object' && plan !== null && 'include_changes' in plan && plan.include_changes === true
  );
}

/**
 * The checkout's branch as it was when the session began, and for a snapshot of uncommitted changes its HEAD of then: its
 * parent. Both must still be so.
 */
async function asItBegan(
  session: SessionContext,
  row: SessionRow,
  { facts, repository }: { facts: ProjectFacts; repository: string },
): Promise<ProjectFacts> {
  const branch = row.options['branch'];
  const then = { ...facts, branch: typeof branch === 'string' ? branch : null };
  if (!includesChanges(row)) return then;
  const snapshot = await session.git.resolve(repository, `refs/agentorchestr/base/${row.session_id}`);
  const head =
    snapshot === row.base_commit ? await session.git.resolve(repository, `${snapshot}^`) : row.base_commit;
  return { ...then, head };
}
