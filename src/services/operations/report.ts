import { z } from 'zod';
import { OrchestratorError } from '../../core/errors/error.js';
import { defineOperation, type OperationContext } from '../operation.js';
import { requireLive } from '../session-context.js';
import { reportByWorker } from '../supervise/report-by-worker.js';

const doors = {
  mcp: true,
  rest: 'a report is the word of the worker itself; its own connection is MCP',
  cli: "a report needs the worker's own token; agents have it, people do not",
} as const;
const accepted = z.object({ accepted: z.boolean(), state: z.string(), next: z.string() });
const END_TURN = 'end your turn now';

function self(context: OperationContext): string {
  if (context.caller.workerId === null) throw new OrchestratorError('FORBIDDEN', { scope: context.caller.scope, operation: 'report', allowed: [] });
  return context.caller.workerId;
}

export const reportDoneOperation = defineOperation({
  name: 'report_done',
  summary: 'Report that your task is finished and committed.',
  effect: 'write',
  idempotent: true,
  scopes: ['worker'],
  doors,
  input: z.object({ summary: z.string().trim().min(1, 'say in a sentence what you did').max(4_000) }),
  output: accepted,
  run: async (context, { summary }) => {
    await reportByWorker(context.session, self(context), { state: 'succeeded', summary });
    return { accepted: true, state: 'done', next: END_TURN };
  },
});

export const reportBlockedOperation = defineOperation({
  name: 'report_blocked',
  summary: 'Report that you cannot go on, and why.',
  effect: 'write',
  idempotent: true,
  scopes: ['worker'],
  doors,
  input: z.object({ reason: z.string().trim().min(1, 'say why').max(4_000) }),
  output: accepted,
  run: async (context, { reason }) => {
    await reportByWorker(context.session, self(context), { state: 'blocked', summary: reason });
    return { accepted: true, state: 'blocked', next: END_TURN };
  },
});

export const askLeadOperation = defineOperation({
  name: 'ask_lead',
  summary: 'Ask the lead a question. Returns at once: end your turn, the answer comes as a message.',
  effect: 'write',
  idempotent: false,
  scopes: ['worker'],
  doors,
  input: z.object({ question: z.string().trim().min(1, 'it is empty').max(4_000) }),
  output: z.object({ asked: z.boolean(), next: z.string() }),
  run: async (context, { question }) => {
    const worker = self(context);
    if (!requireLive(context.session).engine.ask(worker, question)) throw new OrchestratorError('NOTHING_TO_ANSWER', { worker });
    return { asked: true, next: 'end your turn now; the answer comes as a message' };
  },
});
