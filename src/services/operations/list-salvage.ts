import { z } from 'zod';
import { defineOperation, PEOPLE } from '../operation.js';
import { listSalvagedWork, salvagedItem } from '../supervise/salvaged-work.js';

export const listSalvageOperation = defineOperation({
  name: 'list_salvage',
  summary: 'Show the work that was kept under refs before its worktree was removed.',
  effect: 'read',
  idempotent: true,
  scopes: PEOPLE,
  doors: { mcp: 'kept work is for the person', rest: true, cli: 'is agentorchestr salvage list' },
  input: z.object({}),
  output: z.object({ salvaged: z.array(salvagedItem) }),
  run: async ({ session }) => ({ salvaged: await listSalvagedWork(session) }),
});
