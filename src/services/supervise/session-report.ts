import { z } from 'zod';
import { wasStopped } from '../../core/events/index.js';
import { workerWord } from '../../core/state/states.js';
import type { SessionRow, VerificationRow, WorkerRow } from '../../core/state/rows.js';
import type { Reader } from '../../store/contract.js';
import { lastRun } from '../engine/deps.js';
import { attention, attentionItem } from './attention.js';
import { leftOutReport } from './left-out.js';
import { isResumable, modeOf, shownState } from './shown-state.js';

export const workerReport = z.object({
  worker_id: z.string(),
  perspective: z.string(),
  agent: z.string(),
  state: z
    .string()
    .describe('starting, running, idle, waiting, done, blocked, failed, killed, exited or orphaned'),
  summary: z.string(),
  task: z.string().describe('cut to 120 characters'),
  branch: z.string().nullable(),
  integrated: z.boolean(),
  waiting: z.object({ kind: z.string(), text: z.string() }).nullable(),
});
export type WorkerReport = z.infer<typeof workerReport>;

const commandReport = z.object({
  command: z.string(),
  exit_code: z.number().nullable(),
  stopped: z.boolean().describe('broken off, because the session ended'),
  duration_ms: z.number(),
});
export const verifyReport = z.object({
  verify_id: z.string(),
  state: z.enum(['running', 'passed', 'failed', 'interrupted', 'nothing_to_verify']),
  commit: z.string(),
  commands: z.array(commandReport.extend({ tail: z.string() })),
  reason: z.string().nullable(),
});

export const diskReport = z.object({
  bytes: z.number(),
  complete: z.boolean().describe('false: there is more than was counted'),
  worktrees: z.number(),
  salvage: z.number().describe('ignored files that were kept'),
  repository: z.number().describe('private repository of a folder without git'),
  session: z.number().describe('logs, outputs and private files'),
});
export type DiskReport = z.infer<typeof diskReport>;

export const sessionReport = z.object({
  session_id: z.string(),
  state: z.string().describe('active, done, failed, paused, timeout; crashed when its owner is gone'),
  mode: z.enum(['goal', 'manual']).describe('manual: one agent and no lead'),
  goal: z.string(),
  summary: z.string(),
  reason: z.string().nullable(),
  project: z.string(),
  base: z.string(),
  branch: z.string().nullable(),
  commit: z.string().nullable(),
  workers: z.array(workerReport),
  attention: z
    .array(attentionItem.pick({ worker_id: true, kind: true, since: true }))
    .describe('what waits for somebody; list_attention has it whole'),
  verify: verifyReport.nullable(),
  last_progress: z.string().nullable(),
  merge_command: z.string().nullable(),
  applied: z.string().nullable().describe('how --apply went; null when it was not asked for'),
  created_at: z.string(),
  ended_at: z.string().nullable(),
  resumable: z.boolean().describe('agentorchestr --resume goes on with it'),
  left_out: z
    .array(leftOutReport)
    .nullable()
    .describe('work of its workers that the result does not hold; null: not over, or paused, or cleaned'),
  cleaned_at: z.string().nullable().describe('when clean removed what it left; null: not yet'),
  disk: diskReport
    .nullable()
    .describe('what the session keeps on disk; null where nobody asked, and in the session itself'),
});
export type SessionReport = z.infer<typeof sessionReport>;

const TASK_SHOWN = 120;

/** What `list_workers`, `status`, the summary and the heartbeat show: all of it views of the rows. */
export function reportWorker(reader: Reader, worker: WorkerRow): WorkerReport {
  const run = lastRun(reader, worker);
  const waiting = run?.state === 'waiting' || (worker.state === 'waiting' && run === null);
  return {
    worker_id: worker.worker_id,
    perspective: worker.perspective,
    agent: worker.agent,
    state: waiting ? 'waiting' : workerWord(worker.state, run),
    summary: run?.summary ?? '',
    task: worker.task.slice(0, TASK_SHOWN),
    branch: worker.branch,
    integrated: worker.integrated_commit !== null,
    waiting: waiting
      ? {
          // A question at the agent's own dialog is the worker's; its run only knows that it is at a dialog.
          kind:
            (run?.waiting_kind === 'dialog' ? worker.waiting_kind : run?.waiting_kind) ??
            worker.waiting_kind ??
            'dialog',
          text: run?.waiting_text ?? worker.waiting_text ?? '',
        }
      : null,
  };
}

function verifyState({ nothing_to_verify: nothing, results, state }: VerificationRow) {
  if (nothing) return 'nothing_to_verify';
  return wasStopped(results) ? 'interrupted' : state;
}

export function reportVerification(row: VerificationRow): z.infer<typeof verifyReport> {
  return {
    verify_id: row.verify_id,
    state: verifyState(row),
    commit: row.commit,
    commands: row.results.map(({ command, exit_code, stopped = false, duration_ms, tail }) => ({
      command,
      exit_code,
      stopped,
      duration_ms,
      tail,
    })),
    reason: row.reason,
  };
}

export function reportSession(reader: Reader, row: SessionRow): SessionReport {
  const workers = reader.workers(row.session_id).filter((worker) => worker.role === 'worker');
  const verification = reader.verifications(row.session_id).at(-1);
  const state = shownState(reader, row);
  return {
    session_id: row.session_id,
    state,
    mode: modeOf(row),
    goal: row.goal,
    summary: row.summary,
    reason: row.reason,
    project: row.project,
    base: row.base_statement,
    branch: row.integration_branch,
    commit: row.integration_commit,
    workers: workers.map((worker) => reportWorker(reader, worker)),
    attention: attention(reader, row.session_id, null).map(({ worker_id, kind, since }) => ({
      worker_id,
      kind,
      since,
    })),
    verify: verification === undefined ? null : reportVerification(verification),
    last_progress: row.last_progress,
    merge_command: mergeCommand(row),
    applied: row.applied,
    created_at: row.created_at,
    ended_at: row.ended_at,
    resumable: isResumable(reader, row, state),
    left_out: null,
    cleaned_at: row.cleaned_at,
    disk: null,
  };
}

/**
 * The one command that brings the result home; null where it would not: nothing integrated, nothing changed, ended
 * otherwise than done, brought home already. The result of a plain folder is in a repository of ours, which its folder
 * knows nothing of.
 */
function mergeCommand(row: SessionRow): string | null {
  const { integration_branch: branch, integration_commit: commit, state, applied } = row;
  const home = applied !== null && !applied.startsWith('not applied');
  // After that only `agentorchestr merge` knows where the commits are kept.
  if (row.cleaned_at !== null && !home && commit !== null && state === 'done')
    return `agentorchestr merge ${row.session_id}`;
  if (commit === row.base_commit) return null;
  if (branch === null || commit === null || home || (state !== 'done' && state !== 'active')) return null;
  if (row.options['imported'] !== true) return `git merge ${branch}`;
  return `git --git-dir='${row.repository}' archive ${branch} | tar -x -C '${row.project}'`;
}
