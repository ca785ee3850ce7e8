import { z } from 'zod';
import { WAITING_KINDS, WAITING_VIA } from '../state/states.js';
import { event } from './define.js';

export const workerEvents = {
  'worker.created': event(
    'A worker has its number, folder and branch; its agent is not started yet.',
    {
      role: z.enum(['lead', 'worker']),
      perspective: z.string(),
      read_only: z.boolean(),
      agent: z.string(),
      backend: z.string(),
      task: z.string(),
      file_scope: z.array(z.string()),
      pass_criteria: z.string(),
      branch: z.string().nullable(),
      worktree: z.string(),
      base_commit: z.string(),
    },
    { synced: true },
  ),
  'worker.started': event('The agent process runs in its pane; whether it takes input is not known yet.', {
    attempt_id: z.string(),
    pane_id: z.string().nullable(),
    window: z.string().nullable(),
    pid: z.number().nullable(),
    pid_started_at: z.string().nullable(),
  }),
  'worker.ready': event('The agent takes input.', { attempt_id: z.string() }),
  'worker.working': event('The agent is in a turn.', {}),
  'worker.waiting': event('The agent needs somebody: the text of what it shows is kept.', {
    kind: z.enum(WAITING_KINDS),
    text: z.string(),
    choices: z
      .array(z.object({ number: z.number(), label: z.string() }))
      .optional()
      .describe('what can be answered; absent where it cannot be answered for the person'),
    prompt_hash: z.string().optional().describe('names this very prompt, whenever it is read'),
    via: z.enum(WAITING_VIA).optional().describe('how it was noticed'),
  }),
  'worker.idle': event('The agent is ready for input and does nothing.', {}),
  'worker.exited': event('The agent process ended.', {
    attempt_id: z.string(),
    status: z.number().nullable().describe('exit status, 128 + signal; null where it could not be learned'),
    reason: z.string(),
    output_tail: z.string(),
  }),
  'worker.lost': event('The agent cannot be reached any more and no exit was seen.', {
    reason: z.string(),
    never_started: z.boolean().optional().describe('there is nothing that an instruction could bring back'),
  }),
  'worker.retired': event(
    'An idle integrated worker was ended to make room; it can come back by its conversation id.',
    {
      reason: z.string(),
    },
  ),
  'worker.moved': event('Its pane is in another window now; the agent runs on.', { window: z.string() }),
  'worker.switched': event(
    'In a conversation: from here on it is another agent that is asked. Each keeps a conversation of its own.',
    {
      agent: z.string(),
      from: z.string(),
      reason: z
        .string()
        .nullable()
        .describe(
          'why the run could not begin with the one before; null: it begins with the first of the list',
        ),
    },
  ),
  'thread.opened': event("The agent's own conversation id is known.", {
    thread_id: z.string(),
    transcript_path: z
      .string()
      .optional()
      .describe('file in which the agent itself keeps the conversation, where it says so'),
  }),
  'thread.lost': event(
    'The agent does not know its conversation any more; the next turn begins a new one, with what was said as context.',
    { thread_id: z.string(), reason: z.string() },
  ),
  'screen.changed': event('The pane was redrawn.', { pane_id: z.string() }, { durable: false }),
};
