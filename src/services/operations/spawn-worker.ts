import { z } from 'zod';
import { OrchestratorError } from '../../core/errors/error.js';
import { workerWord } from '../../core/state/states.js';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { lastRun } from '../engine/deps.js';
import { recordLimit } from '../supervise/limits.js';
import { spawnWorker } from '../supervise/spawn-worker.js';

const RETRIES_MOST = 5;

export const spawnWorkerOperation = defineOperation({
  name: 'spawn_worker',
  summary: 'Start a worker agent in its own git worktree and pane with one task.',
  effect: 'write',
  idempotent: false,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  positional: ['task'],
  input: z.object({
    task: z.string().trim().min(1, 'it is empty').max(1_000_000).describe('what to do, complete in itself'),
    perspective: z.string().default('implementer').describe('role; list_perspectives names them'),
    file_scope: z
      .array(z.string().min(1))
      .max(500)
      .default([])
      .describe('files and folders it may touch, relative to the project'),
    pass_criteria: z.string().default('').describe('how it knows that it is finished'),
    extra_context: z.string().default('').describe('what else it should know'),
    agent_hint: z
      .string()
      .optional()
      .describe('which agent; an unknown one falls back to the default, with a warning'),
    backend: z
      .enum(['tmux', 'headless'])
      .optional()
      .describe('tmux: its terminal program in a pane; headless: a process per turn, shown in a pane'),
    base: z
      .string()
      .optional()
      .describe(
        'worker id, "integration", branch or commit to start from (default: what is integrated so far)',
      ),
    timeout_s: z.coerce
      .number()
      .int()
      .min(1)
      .max(31_536_000)
      .optional()
      .describe('seconds its task may take; then it is interrupted and ends as timed out, its work is kept'),
    retries: z.coerce
      .number()
      .int()
      .min(0)
      .max(RETRIES_MOST)
      .optional()
      .describe(
        'how often its process may end unasked and be started again, in its conversation (default: 0)',
      ),
    idempotency_key: z
      .string()
      .min(1)
      .max(200)
      .optional()
      .describe('the same key with the same input returns the same worker'),
  }),
  output: z.object({
    worker_id: z.string(),
    perspective: z.string(),
    agent: z.string(),
    worktree: z.string(),
    branch: z.string(),
    tmux_pane: z.string().nullable().describe('null while the pane is still being made'),
    state: z.string(),
    reused: z.boolean(),
    warnings: z.array(z.string()),
  }),
  run: async ({ session, caller }, input) => {
    try {
      const { worker, paneId, reused, warnings } = await spawnWorker(session, {
        ...input,
        sender: caller.name,
      });
      return {
        worker_id: worker.worker_id,
        perspective: worker.perspective,
        agent: worker.agent,
        worktree: worker.worktree,
        branch: worker.branch ?? '',
        tmux_pane: paneId ?? worker.pane_id,
        state: workerWord(worker.state, lastRun(session.store, worker)),
        reused,
        warnings: [...warnings],
      };
    } catch (error) {
      if (error instanceof OrchestratorError && error.code === 'LIMIT_REACHED') recordLimit(session, error);
      throw error;
    }
  },
});
