import { z } from 'zod';
import { sessionIdSchema } from '../../core/ids.js';

const command = z.object({ label: z.string(), command: z.string(), source: z.string() });

/**
 * What the foreground decides (arguments, trust, consent, agents) and hands to the supervisor as one JSON document.
 * The supervisor asks nobody: everything that needs a person is settled before.
 */
export const sessionPlanSchema = z.object({
  session_id: sessionIdSchema,
  /** `manual`: nobody leads; one worker does the goal, which is its task. */
  mode: z.enum(['goal', 'manual']).default('goal'),
  goal: z.string().min(1),
  project: z.string().describe('absolute path of the project folder'),
  lead_agent: z.string(),
  worker_agents: z.array(z.string()).min(1),
  /** Absolute paths of the binaries found, by agent name. */
  binaries: z.record(z.string(), z.string()),
  /** Per agent: values its adapter understands (the scripted agent's script). */
  agent_options: z.record(z.string(), z.record(z.string(), z.string())).default({}),
  /**
   * Where workers run when their spawn does not say: in a pane each; without a terminal, shown in a pane; or, in manual
   * mode, on the terminal of the very process that supervises.
   */
  worker_backend: z.enum(['tmux', 'headless', 'foreground']).default('tmux'),
  include_changes: z.boolean().default(false),
  fetch: z.boolean().default(false),
  apply: z.boolean().default(false),
  kill_tmux: z.boolean().default(false),
  bypass_permissions: z.boolean().default(true),
  /** The lead may see and answer what its workers wait with. */
  lead_may_answer: z.boolean().default(false),
  verify_commands: z.array(command).describe('frozen when the person consented to them'),
  setup_commands: z.array(command),
  limits: z
    .object({
      max_workers: z.number().int().min(1).max(64).default(8).describe('live at one time'),
      total_workers: z.number().int().min(1).default(64),
      spawns_per_minute: z.number().int().min(1).default(12),
      session_timeout_s: z.number().int().min(1).nullable().default(null),
      run_timeout_s: z
        .number()
        .int()
        .min(1)
        .nullable()
        .default(null)
        .describe('of a run whose spawn says nothing'),
      stall_s: z.number().int().min(0).default(600).describe('of silence, then it is told; 0: never'),
    })
    .prefault({}),
  /** Absolute path of a person's own tmux configuration, read on top of ours; null: none. */
  tmux_user_config: z.string().nullable().default(null),
  end_shown_s: z.number().int().min(1).default(10).describe('how long viewers who touch nothing see the end'),
  /** Size of the terminal that will attach; null: nobody is about to. */
  terminal: z.object({ columns: z.number().int(), rows: z.number().int() }).nullable().default(null),
});

export type SessionPlan = z.infer<typeof sessionPlanSchema>;
export type SessionPlanInput = z.input<typeof sessionPlanSchema>;
