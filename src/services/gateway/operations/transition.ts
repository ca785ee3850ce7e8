import { z } from 'zod';
import { OrchestratorError } from '../../../core/errors/error.js';
import { RUN_STATES } from '../../../core/state/states.js';
import { CLIENTS, defineGatewayOperation } from '../operation.js';
import { transitionRun } from '../transition-run.js';
import { eventSchema, eventView, runSchema, runView } from '../views.js';
import { runId } from './fields.js';
import { findRun } from '../conversation-row.js';

const state = z.enum(RUN_STATES);
const failure = z.object({ code: z.string().max(200).optional(), message: z.string().max(20_000) });

export const transitionOfRun = defineGatewayOperation({
  name: 'transition_run',
  summary: 'Say what has become of an external run; or cancel or fail a run of the pool, whatever it is at.',
  ...{ effect: 'destroy', idempotent: true, scopes: CLIENTS },
  address: { method: 'POST', path: '/runs/{run_id}/transition', status: 200 },
  input: z.object({
    run_id: runId,
    status: state.optional().describe('what it becomes'),
    to: state.optional().describe('the same as status'),
    reason: z.string().max(20_000).optional().describe('why; of waiting: what it asks'),
    result_text: z.string().max(256_000).optional().describe('its answer, where it succeeded'),
    error: z.union([z.string().max(20_000), failure]).optional(),
    expected_status: state.optional().describe('only if it is in this state'),
  }),
  output: z.object({
    run: runSchema,
    event: eventSchema.nullable().describe('null: it was in that state already'),
  }),
  run: async ({ gateway, caller }, input) => {
    const { run_id, reason, result_text: result, error } = input;
    const to = input.status ?? input.to;
    if (to === undefined || (input.to !== undefined && input.to !== to))
      throw new OrchestratorError('INVALID_INPUT', {
        field: to === undefined ? 'status' : 'to',
        problem: to === undefined ? 'it is missing' : 'it is not what status says',
      });
    const { code = null, message } = typeof error === 'object' ? error : { message: error };
    const event = await transitionRun(gateway, {
      ...{ run_id, to, expected: input.expected_status, failureCode: code, by: caller.name },
      summary:
        (to === 'succeeded' ? result : message) ?? reason ?? (to === 'succeeded' ? '' : `set to ${to}`),
    });
    const run = runView(gateway.store, findRun(gateway, run_id));
    return { run, event: event === null ? null : eventView(event) };
  },
});
