import { join } from 'node:path';
import type { LaunchContext } from '../../agents/contract.js';
import type { TurnSpec } from '../../backends/contract.js';
import type { SessionRow, WorkerRow } from '../../core/state/rows.js';
import { ensurePrivateDirectory, writeFileAtomic } from '../../platform/files.js';
import { hashOf } from '../../platform/ids.js';
import type { Reader } from '../../store/contract.js';
import type { AgentAccess } from '../session-context.js';
import { optionsOf } from './conversation-row.js';
import { modelPlace, readyAgent, type AgentTable } from './agents.js';
import { modelHistory } from './model-history.js';

export interface TurnParts {
  readonly store: Reader;
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
  const { agent, context, access } = await startOf(parts, session, worker, runId);
  const { adapter, launch } = agent;
  const place = modelPlace(agent, parts.agents);
  const { directory } = context;
  await ensurePrivateDirectory(directory);
  for (const file of launch.files?.(context) ?? [])
    await writeFileAtomic(join(directory, file.name), file.content);
  return {
    ...{ workerId, attemptId, directory, launch, role: worker.role, cwd: worker.worktree },
    label: `${sessionId} ${adapter.name}`,
    argv: launch.argv(context),
    env: { ...access.env, ...launch.env?.(context) },
    format: launch.format(context),
    ...(place === null
      ? {}
      : {
          model: {
            ...{ place, threadId: `${sessionId}-${workerId}` },
            history: modelHistory(parts.store, sessionId, workerId),
          },
        }),
  };
}

export interface Invocation {
  readonly binary: string;
  readonly argv: readonly string[];
  readonly options: Readonly<Record<string, string>>;
}

/** How a turn would be started now; nothing is written. Throws as `readyAgent` does. */
export async function invocationOf(
  parts: TurnParts,
  session: SessionRow,
  worker: WorkerRow,
  runId: string | null,
): Promise<Invocation> {
  const { agent, context } = await startOf(parts, session, worker, runId);
  return { binary: agent.binary, argv: agent.launch.argv(context), options: agent.options };
}

async function startOf(parts: TurnParts, session: SessionRow, worker: WorkerRow, runId: string | null) {
  const { session_id: sessionId, worker_id: workerId } = worker;
  const agent = await readyAgent(parts.agents, worker.agent);
  const access = parts.access(sessionId, workerId, runId);
  const context: LaunchContext = {
    ...{ binary: agent.binary, role: worker.role, worktree: worker.worktree },
    directory: parts.workerDirectory(sessionId, workerId),
    // An agent that is asked no more may still have something to say; it is not taken for the word of the next.
    hookUrl: `${access.hookUrl}?agent=${encodeURIComponent(worker.agent)}`,
    ...{ mcpUrl: access.mcpUrl, tokenVariable: access.tokenVariable },
    bypassPermissions: optionsOf(session).permissions === 'bypass',
    ...{ isRoot: parts.isRoot, hashOf, resumeThreadId: worker.thread_id, extra: agent.options },
  };
  return { agent, context, access };
}
