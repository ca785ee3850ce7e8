import { z } from 'zod';
import { AGENTS } from '../../../agents/registry.js';
import { RUN_STATES } from '../../../core/state/states.js';
import { diagnoseRun } from '../diagnose/diagnose-run.js';
import { LIKELY_ISSUES } from '../diagnose/likely-issue.js';
import { CLIENTS_AND_ABOVE, defineGatewayOperation } from '../operation.js';
import { runSchema, runView } from '../views.js';
import { queueCountsSchema, runId } from './fields.js';
import { findRun } from '../conversation-row.js';

const invocationSchema = z.object({
  binary: z.string().nullable(),
  profile: z.string().nullable(),
  extra_args: z.array(z.string()),
  argv_redacted: z.array(z.string()).nullable().describe('as its next process would be started'),
  cwd: z.string().nullable(),
  thread_id: z.string().nullable(),
  resume: z.boolean().nullable(),
});
type Invocation = z.input<typeof invocationSchema>;

const NOT_STARTED: Invocation = {
  ...{ binary: null, profile: null, extra_args: [], argv_redacted: null },
  ...{ cwd: null, thread_id: null, resume: null },
};

/** Some agents have a block of their own name: it is there for runs of others too, with nothing in it. */
const named = AGENTS.flatMap(({ name, gateway }) =>
  gateway === undefined ? [] : [{ agent: name, field: gateway.invocation }],
);

const diagnostics = z.object({
  status: z.enum(RUN_STATES),
  age_s: z.number(),
  queue_position: z.number().nullable().describe('1: the next one; null: it is not queued'),
  queue_counts: queueCountsSchema,
  worker_id: z.string().nullable().describe('the place of the pool that it has'),
  worker_alive: z.boolean().nullable(),
  alive_workers: z.number(),
  busy_workers: z.number(),
  max_concurrency: z.number(),
  active_pid: z.number().nullable(),
  pid_alive: z.boolean().nullable(),
  process_cpu_s: z.number().nullable().describe('of its process and everything that started'),
  last_event_at: z.string().nullable(),
  last_event_type: z.string().nullable(),
  seconds_since_last_event: z.number().nullable(),
  tool_calls: z.object({
    total: z.number(),
    open: z.array(z.object({ name: z.string(), started_at: z.string(), args_preview: z.string() })),
  }),
  attempts: z.number(),
  invocation: invocationSchema,
  ...(Object.fromEntries(named.map(({ field }) => [field, invocationSchema])) as Record<never, never>),
  provider: z.string().describe('who did it'),
  given_up: z
    .array(z.object({ provider: z.string(), reason: z.string() }))
    .describe('providers that were asked before and could not'),
  exit_code: z.number().nullable(),
  stderr_tail: z.string().nullable(),
  children: z.array(z.object({ run_id: z.string(), session_id: z.string(), status: z.enum(RUN_STATES) })),
  open_escalations: z.array(
    z.object({ id: z.string(), kind: z.string(), text: z.string(), run_id: z.string() }),
  ),
  likely_issue: z.enum(LIKELY_ISSUES),
  explanation: z.string(),
  suggestions: z.array(z.string()),
});

export const diagnoseOneRun = defineGatewayOperation({
  name: 'diagnose_run',
  summary: 'Say what is most likely wrong with a run, what that follows from, and what to do.',
  ...{ effect: 'read', idempotent: true, scopes: CLIENTS_AND_ABOVE },
  address: { method: 'GET', path: '/runs/{run_id}/diagnose', status: 200 },
  input: z.object({ run_id: runId }),
  output: z.object({ run: runSchema, diagnostics }),
  run: async ({ gateway }, { run_id }) => {
    const run = findRun(gateway, run_id);
    const { suggestions, ...found } = await diagnoseRun(gateway, run);
    const blocks = named.map(({ agent, field }) => [
      field,
      found.provider === agent ? found.invocation : NOT_STARTED,
    ]);
    return {
      run: runView(gateway.store, run),
      diagnostics: {
        ...found,
        ...(Object.fromEntries(blocks) as Record<never, never>),
        suggestions: [...suggestions],
      },
    };
  },
});
