import { z } from 'zod';
import { sessionIdSchema } from '../core/ids.js';
import { sessionPlanSchema } from '../services/supervise/plan.js';

const takeUp = z.object({
  session_id: sessionIdSchema,
  /** Of the terminal that will attach; null: nobody is about to. */
  terminal: sessionPlanSchema.shape.terminal,
  /** Close the panes at the end; null: as was said when the session began. */
  kill_tmux: z.boolean().nullable().default(null),
  /** What the person adds to the goal. */
  addition: z.string().nullable().default(null),
});

/** What a supervisor is started for. */
export const supervisorOrderSchema = z.union([
  z.object({ plan: sessionPlanSchema }),
  z.object({ take_up: takeUp }),
]);
export type SupervisorOrder = z.output<typeof supervisorOrderSchema>;
export type SupervisorOrderInput = z.input<typeof supervisorOrderSchema>;
export type TakeUpOrder = z.output<typeof takeUp>;
export type TakeUpOrderInput = z.input<typeof takeUp>;
