import { z } from 'zod';
import { SESSION_STATES } from '../state/states.js';
import { event } from './define.js';

const command = z.object({ label: z.string(), command: z.string(), source: z.string() });
export type FrozenCommand = z.infer<typeof command>;

export const sessionEvents = {
  'session.created': event(
    'A session exists; nothing of it runs yet.',
    {
      kind: z.enum(['goal', 'conversation', 'batch', 'job', 'chat']),
      goal: z.string(),
      project: z.string(),
      base_commit: z.string(),
      base_statement: z.string(),
      repository: z.string().describe('absolute git common directory the session works in'),
      subdirectory: z.string().describe('path of the project below the top of its worktree, or ""'),
      lead_agent: z.string(),
      worker_agents: z.array(z.string()),
      options: z.record(z.string(), z.unknown()),
      verify_commands: z.array(command),
      setup_commands: z.array(command),
    },
    { synced: true },
  ),
  'session.updated': event(
    'Where the session runs changed, or what it is called and what is noted about it.',
    {
      title: z.string().optional().describe('of a conversation'),
      metadata: z.record(z.string(), z.unknown()).optional().describe('of a conversation, all of it'),
      providers: z
        .array(z.string())
        .optional()
        .describe('of a conversation: whom its runs ask, the first one first'),
      tmux_socket: z.string().optional(),
      directory: z.string().optional(),
      integration_branch: z.string().optional(),
      integration_worktree: z.string().optional(),
    },
  ),
  'session.paused': event(
    'Processes were ended on purpose; conversation ids and worktrees are kept.',
    { reason: z.string() },
    { synced: true },
  ),
  'session.resumed': event('A session that was over goes on: whatever ended it no longer holds.', {
    reason: z.string().describe('what it had ended with'),
  }),
  'session.ended': event(
    'The session is over; what its branch holds is final.',
    {
      state: z.enum(SESSION_STATES),
      summary: z.string(),
      reason: z.string().optional(),
      applied: z
        .string()
        .optional()
        .describe("how the result came into the user's checkout, or why it did not"),
    },
    { synced: true },
  ),
  'session.cleaned': event(
    'What the session left was removed; work of its own is under salvage refs. It cannot be resumed any more.',
    {
      removed: z.array(z.string()).describe('paths and branches that are gone'),
      left: z
        .array(z.object({ what: z.string(), reason: z.string() }))
        .describe('what could not be removed without losing something'),
      bytes: z.number().describe('disk space that it freed'),
    },
    { synced: true },
  ),
  'result.applied': event(
    "A late merge brought the result into the user's checkout.",
    { how: z.string() },
    { synced: true },
  ),
  'supervisor.started': event('A supervisor process owns the session and answers on its port.', {
    pid: z.number(),
    port: z.number(),
  }),
  'supervisor.recovered': event('A new supervisor reconciled what the last one left.', {
    adopted: z.array(z.string()),
    lost: z.array(z.string()),
  }),
  'tmux.lost': event('The tmux server of the session is gone.', { socket: z.string(), reason: z.string() }),
  'limit.reached': event('A limit refused or ended something.', {
    limit: z.string(),
    value: z.number(),
    max: z.number(),
    what: z.string(),
  }),
  'progress.reported': event('The lead noted progress.', { message: z.string() }),
  'goal.done': event(
    'The lead declared the goal reached, and the proof asked for was there (or was overridden, with the reason).',
    {
      summary: z.string(),
      verify_id: z.string().nullable(),
      forced: z.string().nullable(),
      discarded: z.array(z.object({ worker: z.string(), reason: z.string() })),
    },
    { synced: true },
  ),
  'goal.failed': event('The lead gave the goal up.', { reason: z.string() }, { synced: true }),
};
