import type { SessionRow } from '../core/state/rows.js';
import { sessionPlanSchema, type SessionPlan } from '../services/supervise/plan.js';
import { notResumable } from '../services/supervise/take-up.js';
import { readSession } from './cli-sessions.js';
import type { TakeUpOrder } from './supervisor-order.js';

/**
 * A session with the plan that it was started with, and what the order asks for over it. Throws SESSION_NOT_FOUND,
 * SESSION_NOT_RESUMABLE.
 */
export async function readLeftSession(
  env: Readonly<Record<string, string | undefined>>,
  order: TakeUpOrder,
): Promise<{ row: SessionRow; plan: SessionPlan }> {
  const row = await readSession(env, order.session_id);
  const { data: plan } = sessionPlanSchema.safeParse(row.options['plan']);
  if (plan === undefined)
    throw notResumable({ sessionId: row.session_id }, 'what it was started with is not known');
  if (row.cleaned_at !== null)
    throw notResumable(
      { sessionId: row.session_id },
      `it was cleaned at ${row.cleaned_at}`,
      `work that was kept, if there was any: agentorchestr salvage list ${row.session_id}`,
    );
  if (plan.worker_backend === 'foreground')
    throw notResumable(
      { sessionId: row.session_id },
      'its agent had a terminal of yours, which it does not get back',
      `what it did is in its worktree and branch: agentorchestr status ${row.session_id}; to remove them: agentorchestr clean ${row.session_id}`,
    );
  return {
    row,
    plan: { ...plan, terminal: order.terminal, kill_tmux: order.kill_tmux ?? plan.kill_tmux },
  };
}
