import type { SessionRow } from '../core/state/rows.js';
import { sessionPlanSchema, type SessionPlan } from '../services/supervise/plan.js';
import { readSession } from './cli-sessions.js';
import type { TakeUpOrder } from './supervisor-order.js';

/** A session with the plan it was started with, changed by what was asked for now. Throws SESSION_NOT_FOUND. */
export async function readLeftSession(
  env: Readonly<Record<string, string | undefined>>,
  order: TakeUpOrder,
): Promise<{ row: SessionRow; plan: SessionPlan }> {
  const row = await readSession(env, order.session_id);
  const plan = sessionPlanSchema.parse(row.options['plan']);
  return {
    row,
    plan: { ...plan, terminal: order.terminal, kill_tmux: order.kill_tmux ?? plan.kill_tmux },
  };
}
