import { z } from 'zod';
import { defineOperation, PEOPLE } from '../operation.js';
import { restoredWork, restoreSalvagedWork } from '../supervise/salvaged-work.js';

export const restoreSalvageOperation = defineOperation({
  name: 'restore_salvage',
  summary: 'Bring kept work back into a folder or a new branch; nothing is overwritten.',
  effect: 'write',
  idempotent: false,
  scopes: PEOPLE,
  doors: { mcp: 'kept work is for the person', rest: true, cli: 'is agentorchestr salvage restore' },
  input: z.object({
    work: z.string().min(1).describe('w01, integration …, as list_salvage names it after the session'),
    to: z.string().nullable().default(null).describe('absolute folder: new or empty becomes a worktree'),
    branch: z.string().nullable().default(null).describe('name of a new branch'),
  }),
  output: restoredWork,
  run: async ({ session }, input) => restoreSalvagedWork(session, input),
});
