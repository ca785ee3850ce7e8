import { OrchestratorError } from '../../core/errors/error.js';
import type { SessionRow } from '../../core/state/rows.js';
import { fact } from '../engine/deps.js';
import { requireOneReady } from './agents.js';
import { FIRST_WORKER, findConversation, type ConversationOptions } from './conversation-row.js';
import type { Transaction } from '../../store/contract.js';
import type { Gateway } from './gateway.js';
import { once } from './once.js';
import { wantedProviders, type ProvidersGiven } from './wanted-providers.js';

export interface ConversationRequest
  extends Pick<ConversationOptions, 'permissions' | 'metadata'>, ProvidersGiven {
  readonly title: string;
  readonly cwd?: string | undefined;
  readonly idempotency_key?: string | undefined;
}

/**
 * Throws INVALID_INPUT, UNKNOWN_AGENT, AGENT_NOT_LAUNCHABLE, NO_AGENTS, AGENT_KEY_MISSING, AGENT_OPTION_MISSING,
 * FOLDER_NOT_ALLOWED, IDEMPOTENCY_KEY_REUSED.
 */
export async function createConversation(
  gateway: Gateway,
  request: ConversationRequest,
): Promise<{ session: SessionRow; replayed: boolean }> {
  const { settings, store } = gateway;
  const { idempotency_key: key, ...input } = request;
  const { defaultProvider } = settings;
  const providers = wantedProviders(input) ?? (defaultProvider === null ? [] : [defaultProvider]);
  if (providers.length === 0) throw new OrchestratorError('NO_AGENTS');
  await requireOneReady(gateway.agents, providers);
  const cwd = await gateway.folder(input.cwd ?? settings.defaultFolder);
  const { result, replayed } = store.transaction((tx) =>
    once(tx, { scope: 'gateway:sessions', key, input }, () => {
      const { title, permissions, metadata } = input;
      return newConversation(gateway, tx, {
        ...{ title, providers, cwd },
        options: { permissions, metadata, parent: null, depth: 0 },
      });
    }),
  );
  return { session: findConversation(store, result), replayed };
}

/** Its rows, within the caller's transaction. Returns its id. */
export function newConversation(
  gateway: Pick<Gateway, 'newSessionId'>,
  tx: Transaction,
  made: { title: string; providers: readonly string[]; cwd: string; options: ConversationOptions },
): string {
  const { title, providers, cwd, options } = made;
  const [first = ''] = providers;
  let sessionId = gateway.newSessionId();
  while (tx.session(sessionId) !== null) sessionId = gateway.newSessionId();
  const subject = { session_id: sessionId, source: 'rest', evidence: 'protocol' } as const;
  tx.append(
    fact('session.created', subject, {
      ...{ kind: 'conversation', goal: title, project: cwd },
      // Its agent works in the folder as it is: there is no base, and no branch of ours.
      ...{ base_commit: '', base_statement: 'in place', repository: '', subdirectory: '' },
      ...{ lead_agent: first, worker_agents: [...providers], options },
      ...{ verify_commands: [], setup_commands: [] },
    }),
    fact(
      'worker.created',
      { ...subject, worker_id: FIRST_WORKER },
      {
        ...{ role: 'worker', perspective: 'conversation', read_only: false, agent: first },
        ...{ backend: 'headless', task: title, file_scope: [], pass_criteria: '' },
        ...{ branch: null, worktree: cwd, base_commit: '' },
      },
    ),
  );
  return sessionId;
}
