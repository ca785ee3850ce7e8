import { z } from 'zod';
import { defineOperation, PEOPLE } from '../operation.js';
import { reflow } from '../supervise/reflow.js';

/** More than any screen has, and what tmux still takes. */
const MOST = 2_000;

export const reflowOperation = defineOperation({
  name: 'reflow',
  summary: 'Arrange the panes anew for a terminal of this size; the agents run on.',
  effect: 'write',
  idempotent: true,
  scopes: PEOPLE,
  doors: { mcp: 'panes are for the person who looks at them', rest: true, cli: true },
  fromTerminal: ['columns', 'rows'],
  input: z.object({
    columns: z.number().int().min(1).max(MOST).describe('width of the terminal in characters'),
    rows: z.number().int().min(1).max(MOST).describe('height of the terminal in lines'),
  }),
  output: z.object({
    columns: z.number().int(),
    rows: z.number().int(),
    panes_per_window: z.number().int().describe('at most; no pane is smaller than 80x20'),
    windows: z.number().int(),
  }),
  run: async ({ session }, { columns, rows }) => {
    const { perWindow, windows } = await reflow(session, { columns, rows });
    return { columns, rows, panes_per_window: perWindow, windows };
  },
});
