import { dirname, join } from 'node:path';
import { z } from 'zod';
import { OrchestratorError } from '../../core/errors/error.js';
import type { SessionRow } from '../../core/state/rows.js';
import type { RestoreTarget, SalvagedWork } from '../../git/contract.js';
import { filesBelow } from '../../platform/disk.js';
import { sessionRow, type SessionContext } from '../session-context.js';
import { worktreesOf } from './clean-worktrees.js';
import { keptIgnoredIn, salvageRef } from './keep-work.js';

export const salvagedItem = z.object({
  id: z.string().describe('what restore_salvage takes: <session>/<worker>'),
  worker: z.string(),
  ref: z.string(),
  commit: z.string(),
  at: z.string().nullable().describe('when it was kept'),
  uncommitted: z.boolean(),
  commits: z.number().describe('beyond the base of the session'),
  files: z.number().describe('that differ from the base'),
  bytes: z.number(),
  ignored_files: z.array(z.string()),
  kept_in: z.string().nullable().describe('folder of the ignored files'),
  submodules: z.array(z.object({ path: z.string(), repository: z.string(), ref: z.string() })),
  repository: z.string(),
  available: z.boolean().describe('false: the repository that held it is gone'),
});
export type SalvagedItem = z.infer<typeof salvagedItem>;

/** Everything that is kept of a session, by ref; `ref`: only what is under that one. */
export async function listSalvagedWork(session: SessionContext, ref?: string): Promise<SalvagedItem[]> {
  const row = sessionRow(session);
  const repository = await repositoryOf(session, row);
  const told = lastTold(session);
  const options = {
    ...{ sessionId: row.session_id, base: row.base_commit },
    ...(ref === undefined ? {} : { ref }),
  };
  const works = repository === null ? [] : await session.git.listSalvaged({ repository, ...options });
  const there = await Promise.all(
    works.map((work) => describe(session, work, { repository: repository ?? '', told: told.get(work.ref) })),
  );
  if (repository !== null) return there;
  return Promise.all(
    [...told].map(async ([ref, { commit, ...last }]) => ({
      ...(await describe(session, { ref, commit, ...NOTHING }, { repository: row.repository, told: last })),
      available: false,
    })),
  );
}

const NOTHING = { uncommitted: false, commits: 0, files: 0, bytes: 0 };

interface Told {
  readonly worker: string;
  readonly at: string;
  readonly submodules: SalvagedItem['submodules'];
}

/** The newest event of each ref. */
function lastTold({ store, sessionId }: SessionContext): Map<string, Told & { commit: string }> {
  const told = new Map<string, Told & { commit: string }>();
  for (const event of store.events({ after: 0, sessionId, types: ['work.salvaged'] })) {
    const { worker, ref, commit, submodules = [] } = event.data;
    told.set(ref, { worker, commit, submodules, at: event.at });
  }
  return told;
}

async function describe(
  session: SessionContext,
  work: SalvagedWork,
  { repository, told }: { repository: string; told: Told | undefined },
): Promise<SalvagedItem> {
  const name = work.ref.slice(salvageRef(session.sessionId, '').length);
  const worker = told?.worker ?? name;
  const folder = keptIgnoredIn(session, worker);
  const ignored = await filesBelow(folder);
  return {
    id: `${session.sessionId}/${name}`,
    worker,
    ...work,
    at: told?.at ?? null,
    ignored_files: [...ignored],
    kept_in: ignored.length === 0 ? null : folder,
    submodules: told?.submodules ?? [],
    repository,
    available: true,
  };
}

/**
 * Brings kept work back into a folder or a branch; without either, into a folder of ours. Throws NOT_SALVAGED and what
 * Git.restoreSalvaged throws.
 */
export async function restoreSalvagedWork(
  session: SessionContext,
  wanted: { work: string; to: string | null; branch: string | null },
): Promise<z.input<typeof restoredWork>> {
  const row = sessionRow(session);
  const find = (items: readonly SalvagedItem[]) =>
    items.find(({ id }) => id === `${session.sessionId}/${wanted.work}`);
  const item = find(await listSalvagedWork(session, salvageRef(session.sessionId, wanted.work)));
  if (item === undefined) {
    const valid = (await listSalvagedWork(session)).map(({ id }) => id);
    throw new OrchestratorError('NOT_SALVAGED', { ref: wanted.work, valid });
  }
  if (!item.available)
    throw new OrchestratorError('NOT_SALVAGED', {
      ref: `${wanted.work}: its repository ${item.repository} is gone`,
    });
  const target = targetOf(session, wanted);
  const restored = await session.git.restoreSalvaged({
    repository: item.repository,
    ref: item.ref,
    base: session.store.worker(row.session_id, item.worker)?.base_commit ?? row.base_commit,
    ignoredFrom: item.kept_in,
    target,
  });
  return {
    id: item.id,
    ref: item.ref,
    how: restored.how,
    path: target.kind === 'folder' ? target.path : null,
    branch: target.kind === 'branch' ? target.name : null,
    commit: restored.commit,
    files: [...restored.files],
    deleted_files: [...restored.deletedFiles],
    ignored_files: [...restored.ignoredFiles],
    kept_in: target.kind === 'branch' ? item.kept_in : null,
    also_kept: [...restored.alsoKept],
    submodules: item.submodules,
  };
}

export const restoredWork = z.object({
  id: z.string(),
  ref: z.string(),
  how: z
    .enum(['worktree', 'files', 'branch'])
    .describe('worktree: as it was, staged and uncommitted files too. files: what differs from the base'),
  path: z.string().nullable(),
  branch: z.string().nullable(),
  commit: z.string(),
  files: z.array(z.string()).describe('brought back beyond the commit'),
  deleted_files: z
    .array(z.string())
    .describe('the worker had deleted them; of a folder with files none is removed'),
  ignored_files: z.array(z.string()),
  kept_in: z.string().nullable().describe('where the ignored files still are, for a branch'),
  also_kept: z.array(z.string()).describe('stashes, loose commits, earlier states: git show COMMIT'),
  submodules: z.array(z.object({ path: z.string(), repository: z.string(), ref: z.string() })),
});

function targetOf(
  { sessionId, places }: SessionContext,
  { work, to, branch }: { work: string; to: string | null; branch: string | null },
): RestoreTarget {
  if (to !== null && branch !== null)
    throw new OrchestratorError('INVALID_INPUT', {
      field: 'to',
      problem: 'to and branch contradict each other',
    });
  if (branch !== null) return { kind: 'branch', name: branch };
  const own = join(dirname(dirname(places.data)), 'restored', `${sessionId}-${work.replaceAll('/', '-')}`);
  if (to !== null && !to.startsWith('/'))
    throw new OrchestratorError('INVALID_INPUT', { field: 'to', problem: `"${to}" is not an absolute path` });
  return { kind: 'folder', path: to ?? own };
}

function repositoryOf(session: SessionContext, row: SessionRow): Promise<string | null> {
  const worktrees = session.store.workers(row.session_id).map(({ worktree }) => worktree);
  const folder = worktreesOf(session, row);
  return session.git.locateRepository({
    recorded: row.repository,
    worktrees: [...worktrees, join(folder, 'integration')],
  });
}
