import { z } from 'zod';
import { defineOperation, PEOPLE } from '../operation.js';
import { stopSession } from '../supervise/stop-session.js';

export const stopOperation = defineOperation({
  name: 'stop',
  summary: 'Stop a session as failed: end its agents, keep their conversations and worktrees.',
  effect: 'write',
  idempotent: true,
  scopes: PEOPLE,
  doors: { mcp: 'stopping is for the person', rest: true, cli: true },
  input: z.object({ reason: z.string().default('').describe('why; kept with the session') }),
  output: z.object({ stopping: z.boolean() }),
  run: async ({ session }, { reason }) => {
    await stopSession(session, reason);
    return { stopping: true };
  },
});
