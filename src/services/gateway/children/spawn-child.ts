import { OrchestratorError } from '../../../core/errors/error.js';
import type { RunRow, SessionRow } from '../../../core/state/rows.js';
import type { Transaction } from '../../../store/contract.js';
import { fact } from '../../engine/deps.js';
import { acceptInstruction } from '../../engine/instruct.js';
import { requireOneReady } from '../agents.js';
import {
  findConversation,
  findRun,
  FIRST_WORKER,
  firstWorker,
  optionsOf,
  requireUnarchived,
} from '../conversation-row.js';
import { newConversation } from '../create-conversation.js';
import type { Gateway } from '../gateway.js';
import { once } from '../once.js';
import { wantedProviders, type ProvidersGiven } from '../wanted-providers.js';
import { depthBelow, openRunsBelow } from './lineage.js';

export interface SpawnRequest extends ProvidersGiven {
  readonly run_id: string;
  readonly task: string;
  readonly title?: string | undefined;
  readonly cwd?: string | undefined;
  readonly timeout_s?: number | undefined;
  readonly wake_parent: boolean;
  readonly metadata: Record<string, unknown>;
  readonly idempotency_key?: string | undefined;
}

export interface Spawned {
  readonly session: SessionRow;
  readonly run: RunRow;
  readonly parent: RunRow;
  readonly replayed: boolean;
}

/**
 * A conversation of its own, below that of the run, with its first run queued. It works where its parent works and may do
 * what its parent may, never more. Throws RUN_NOT_FOUND, SESSION_ENDED, SPAWN_DEPTH_EXCEEDED, TOO_MANY_CHILDREN,
 * INVALID_INPUT, UNKNOWN_AGENT, NO_AGENTS, FOLDER_NOT_ALLOWED, IDEMPOTENCY_KEY_REUSED.
 */
export async function spawnChild(gateway: Gateway, request: SpawnRequest, sender: string): Promise<Spawned> {
  const { store } = gateway;
  const { run_id: runId, idempotency_key: key, ...input } = request;
  const parent = findRun(gateway, runId);
  const above = findConversation(store, parent.session_id);
  const providers = wantedProviders(input) ?? above.worker_agents;
  await requireOneReady(gateway.agents, providers);
  const cwd = await gateway.folder(input.cwd ?? above.project);
  const { result, replayed } = store.transaction((tx) =>
    once(tx, { scope: `gateway:spawn:${runId}`, key, input }, () => {
      const { depth } = checkLimits(gateway, tx, parent);
      const { task, title, metadata, wake_parent: wake } = input;
      const sessionId = newConversation(gateway, tx, {
        ...{ title: title ?? firstLine(task), providers, cwd },
        options: {
          ...{ permissions: optionsOf(above).permissions, metadata, depth },
          parent: { session_id: parent.session_id, run_id: runId, wake },
        },
      });
      const run = firstRun(gateway, tx, { sessionId, parent, sender, request });
      const subject = { session_id: parent.session_id, worker_id: parent.worker_id, run_id: runId };
      tx.append(
        fact(
          'child.spawned',
          { ...subject, source: 'rest', evidence: 'protocol' },
          { child: sessionId, run },
        ),
      );
      return { session: sessionId, run };
    }),
  );
  (await gateway.conversations.engine(result.session)).pump(FIRST_WORKER);
  const session = findConversation(store, result.session);
  return { session, run: findRun(gateway, result.run), parent, replayed };
}

/** Inside the transaction: of many that spawn at once no more than allowed come through. */
function checkLimits({ settings }: Gateway, tx: Transaction, parent: RunRow): { depth: number } {
  requireUnarchived(findConversation(tx, parent.session_id));
  const depth = depthBelow(tx, parent.session_id);
  const { maxSpawnDepth, maxChildren } = settings;
  if (depth > maxSpawnDepth)
    throw new OrchestratorError('SPAWN_DEPTH_EXCEEDED', { depth, max: maxSpawnDepth });
  const active = new Set(openRunsBelow(tx, parent).map(({ session_id: id }) => id)).size;
  if (active >= maxChildren)
    throw new OrchestratorError('TOO_MANY_CHILDREN', { run: parent.run_id, active, max: maxChildren });
  return { depth };
}

function firstRun(
  gateway: Gateway,
  tx: Transaction,
  given: { sessionId: string; parent: RunRow; sender: string; request: SpawnRequest },
): string {
  const { sessionId, parent, sender, request } = given;
  const worker = firstWorker(tx, sessionId);
  const { task, timeout_s: seconds } = request;
  const timeoutMs = seconds === undefined ? gateway.settings.runTimeoutMs : seconds * 1_000;
  const { runId } = acceptInstruction({ sessionId, newId: () => gateway.newId() }, tx, worker, {
    ...{ kind: 'task', text: task, sender, source: 'rest', parentRunId: parent.run_id },
    ...(timeoutMs === null || timeoutMs === 0 ? {} : { timeoutMs }),
  });
  return runId;
}

const TITLE_MOST = 100;
function firstLine(task: string): string {
  return (task.trim().split('\n')[0] ?? '').slice(0, TITLE_MOST);
}
