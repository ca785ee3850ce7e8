import { z } from 'zod';
import { EVERY_DOOR, LEAD_AND_PEOPLE, defineOperation } from '../operation.js';
import { requireLive, requireOpen } from '../session-context.js';
import { verifyReport } from '../supervise/session-report.js';
import { verifyIntegration } from '../supervise/verify-integration.js';

export const verifyOperation = defineOperation({
  name: 'verify',
  summary:
    "Run the project's verify commands on the integrated result in a fresh worktree; evidence is exit codes at one commit.",
  effect: 'write',
  idempotent: true,
  waits: true,
  scopes: LEAD_AND_PEOPLE,
  doors: EVERY_DOOR,
  input: z.object({
    verify_id: z.string().optional().describe('re-join a verification that still runs'),
    success_criteria: z
      .string()
      .optional()
      .describe('also let a verifier agent judge this; its word is evidence "agent said", never "verified"'),
    agent: z.stringbool().or(z.boolean()).default(false).describe('also let a verifier agent look'),
    timeout_s: z.coerce
      .number()
      .int()
      .min(1)
      .max(3_600)
      .default(600)
      .describe(
        'answer after this long at the latest (sooner where your client allows less); the commands go on',
      ),
    agent_hint: z.string().optional().describe('which agent the verifier is'),
    file_scope: z.array(z.string()).default([]).describe('what the verifier is to look at'),
  }),
  output: verifyReport.extend({
    summary: z.string(),
    passed: z.boolean(),
    ask_again: z.boolean(),
    verifier_id: z.string().nullable(),
    verifier: z
      .object({ state: z.string(), summary: z.string(), evidence: z.literal('agent said') })
      .nullable(),
  }),
  run: async (context, input) => {
    requireLive(context.session);
    requireOpen(context.session);
    return verifyIntegration(context, input);
  },
});
