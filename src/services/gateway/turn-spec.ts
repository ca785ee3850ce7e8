import { join } from 'node:path';
import type { LaunchContext } from '../../agents/contract.js';
import type { TurnSpec } from '../../backends/contract.js';
import type { SessionRow, WorkerRow } from '../../core/state/rows.js';
import { ensurePrivateDirectory, writeFileAtomic } from '../../platform/files.js';
import { hashOf } from '../../platform/ids.js';
import type { AgentAccess } from '../session-context.js';
import { optionsOf } from './conversation-row.js';
import { readyAgent, type AgentTable } from './agents.js';

export interface TurnParts {
  readonly agents: AgentTable;
  access(sessionId: string, workerId: string, runId: string | null): AgentAccess;
  workerDirectory(sessionId: string, workerId: string): string;
  /** This machine's administrator runs the daemon; some agents treat that apart. */
  readonly isRoot: boolean;
}

/**
 * What the process of a conversation's next turn is started with; its files are there when this resolves. It follows
 * from the rows and the daemon's settings alone, so that a later daemon makes the same of it.
 */
export async function conversationTurn(
  parts: TurnParts,
  session: SessionRow,
  worker: WorkerRow,
  { attemptId, runId }: { attemptId: string; runId: string | null },
): Promise<TurnSpec> {
  const { session_id: sessionId, worker_id: workerId } = worker;
  const { adapter, launch, binary, options } = await readyAgent(parts.agents, worker.agent);
  const access = parts.access(sessionId, workerId, runId);
  const directory = parts.workerDirectory(sessionId, workerId);
  const context: LaunchContext = {
    ...{ binary, role: worker.role, directory, worktree: worker.worktree },
    ...{ mcpUrl: access.mcpUrl, hookUrl: access.hookUrl, tokenVariable: access.tokenVariable },
    bypassPermissions: optionsOf(session).permissions === 'bypass',
    ...{ isRoot: parts.isRoot, hashOf, resumeThreadId: worker.thread_id, extra: options },
  };
  await ensurePrivateDirectory(directory);
  for (const file of launch.files?.(context) ?? [])
    await writeFileAtomic(join(directory, file.name), file.content);
  return {
    ...{ workerId, attemptId, directory, launch, role: worker.role, cwd: worker.worktree },
    label: `${sessionId} ${adapter.name}`,
    argv: launch.argv(context),
    env: { ...access.env, ...launch.env?.(context) },
    format: launch.format(context),
  };
}
