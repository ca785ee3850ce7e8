import { z } from 'zod';
import { defineOperation, PEOPLE } from '../operation.js';
import { pauseSession } from '../supervise/stop-session.js';

export const pauseOperation = defineOperation({
  name: 'pause',
  summary: 'Pause a session: end its agents, keep their conversations and worktrees.',
  effect: 'write',
  idempotent: true,
  scopes: PEOPLE,
  doors: { mcp: 'pausing is for the person', rest: true, cli: true },
  input: z.object({ reason: z.string().default('paused by the person') }),
  output: z.object({ pausing: z.boolean() }),
  run: async ({ session }, { reason }) => {
    await pauseSession(session, reason);
    return { pausing: true };
  },
});
