import { delay } from '../../core/clock.js';
import type { VerificationRow } from '../../core/state/rows.js';
import { waitLimitMs, type OperationContext } from '../operation.js';
import { requireLive, sessionRow } from '../session-context.js';
import { reportVerification } from './session-report.js';
import { spawnWorker } from './spawn-worker.js';
import { waitForWorkers } from './wait-for-workers.js';

const PROGRESS_EVERY_MS = 10_000;

export interface VerifyRequest {
  readonly verify_id?: string | undefined;
  readonly success_criteria?: string | undefined;
  readonly agent: boolean;
  readonly agent_hint?: string | undefined;
  readonly file_scope: readonly string[];
  readonly timeout_s: number;
}

interface Verifier {
  readonly state: string;
  readonly summary: string;
  readonly evidence: 'agent said';
}

/**
 * Verifies the integration branch's head: commands first, then — only when asked for — a verifier agent on the same
 * commit. Answers before the caller's limit; a job that still runs is re-joined by its id.
 */
export async function verifyIntegration(context: OperationContext, request: VerifyRequest) {
  const { session } = context;
  const live = requireLive(session);
  const capMs = waitLimitMs(context.caller, request.timeout_s * 1_000);
  const deadline = session.clock.now() + Math.max(1_000, capMs);
  const job =
    request.verify_id === undefined
      ? live.verifyJobs.start(await integrationHead(context))
      : live.verifyJobs.join(request.verify_id);
  const row = await settledBefore(context, job, deadline);
  const report = reportVerification(row);
  const base = { ...report, passed: row.state === 'passed' };
  if (row.state === 'running')
    return { ...base, summary: 'still running', ask_again: true, verifier_id: null, verifier: null };
  const wantsAgent = request.agent || (request.success_criteria ?? '') !== '';
  if (!wantsAgent || row.state === 'failed')
    return { ...base, summary: summaryOf(row), ask_again: false, verifier_id: null, verifier: null };
  const { verifierId, verifier } = await askVerifier(context, request, row, deadline);
  const summary = `${summaryOf(row)}; verifier ${verifier === null ? 'still at it' : `${verifier.state}: ${verifier.summary}`}`;
  return { ...base, summary, ask_again: verifier === null, verifier_id: verifierId, verifier };
}

async function integrationHead({ session }: OperationContext): Promise<string> {
  const row = sessionRow(session);
  const live = requireLive(session);
  return live.integrating(
    async () => (await session.git.status(row.integration_worktree ?? '', row.base_commit)).head,
  );
}

async function settledBefore(
  { session, signal, progress }: OperationContext,
  job: { verifyId: string; finished: Promise<VerificationRow> },
  deadline: number,
): Promise<VerificationRow> {
  const stop = new AbortController();
  const abort = AbortSignal.any([stop.signal, signal]);
  try {
    for (;;) {
      const leftMs = deadline - session.clock.now();
      const beat = delay(session.clock, Math.max(0, Math.min(PROGRESS_EVERY_MS, leftMs)), abort).then(
        () => null,
      );
      const row = await Promise.race([job.finished, beat]);
      if (row !== null) return row;
      const current = session.store.verification(job.verifyId);
      if (current !== null && (signal.aborted || session.clock.now() >= deadline)) return current;
      progress('verify commands are running');
    }
  } finally {
    stop.abort();
  }
}

/** The verifier works on the integrated commit; asking again while it is at it joins the same one. */
async function askVerifier(
  context: OperationContext,
  request: VerifyRequest,
  row: VerificationRow,
  deadline: number,
): Promise<{ verifierId: string; verifier: Verifier | null }> {
  const { session, caller } = context;
  const { worker } = await spawnWorker(session, {
    task: `Judge whether the integrated result at commit ${row.commit} meets these criteria: ${request.success_criteria ?? 'all tests pass, no lint errors'}`,
    perspective: 'verifier',
    file_scope: request.file_scope,
    pass_criteria: request.success_criteria ?? '',
    extra_context: row.results.map((result) => `${result.command} → exit ${result.exit_code}`).join('\n'),
    agent_hint: request.agent_hint,
    base: 'integration',
    idempotency_key: `verify:${row.commit}:${request.success_criteria ?? ''}`,
    sender: caller.name,
  });
  const timeoutMs = Math.max(1_000, deadline - session.clock.now());
  const [outcome] = await waitForWorkers(
    session,
    { workerIds: [worker.worker_id], mode: 'all', timeoutMs },
    caller,
    context.signal,
    context.progress,
  );
  const over = outcome !== undefined && outcome.state !== 'timeout';
  return {
    verifierId: worker.worker_id,
    verifier: over ? { state: outcome.state, summary: outcome.summary, evidence: 'agent said' } : null,
  };
}

function summaryOf(row: VerificationRow): string {
  if (row.nothing_to_verify) return 'nothing to verify: no commands are known for this project';
  const ran = row.results.map((result) => `${result.command} → ${result.exit_code ?? 'time-out'}`).join(', ');
  return row.state === 'passed'
    ? `passed at ${row.commit.slice(0, 10)}: ${ran}`
    : `failed: ${row.reason ?? ran}`;
}
