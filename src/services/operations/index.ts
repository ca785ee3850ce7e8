import type { Operation } from '../operation.js';
import { answerWorkerOperation } from './answer-worker.js';
import { askLeadOperation } from './ask-lead.js';
import { cleanOperation } from './clean.js';
import { crossReviewOperation } from './cross-review.js';
import { integrateWorkerOperation } from './integrate-worker.js';
import { integrationStatusOperation } from './integration-status.js';
import { killWorkerOperation } from './kill-worker.js';
import { listAttentionOperation } from './list-attention.js';
import { listPerspectivesOperation } from './list-perspectives.js';
import { listSalvageOperation } from './list-salvage.js';
import { listWorkersOperation } from './list-workers.js';
import { markGoalDoneOperation } from './mark-goal-done.js';
import { markGoalFailedOperation } from './mark-goal-failed.js';
import { mergeOperation } from './merge.js';
import { overlapsOperation } from './overlaps.js';
import { pauseOperation } from './pause.js';
import { readWorkerOutputOperation } from './read-worker-output.js';
import { reflowOperation } from './reflow.js';
import { reportBlockedOperation } from './report-blocked.js';
import { reportDoneOperation } from './report-done.js';
import { reportProgressOperation } from './report-progress.js';
import { restoreSalvageOperation } from './restore-salvage.js';
import { sendToWorkerOperation } from './send-to-worker.js';
import { spawnWorkerOperation } from './spawn-worker.js';
import { statusOperation } from './status.js';
import { stopOperation } from './stop.js';
import { verifyOperation } from './verify.js';
import { waitForWorkerOperation } from './wait-for-worker.js';
import { workerDiffOperation } from './worker-diff.js';

/** The one operation table: every door is a projection of it. Adding an operation: one file, one line here. */
export const OPERATIONS: readonly Operation[] = [
  answerWorkerOperation,
  askLeadOperation,
  cleanOperation,
  crossReviewOperation,
  integrateWorkerOperation,
  integrationStatusOperation,
  killWorkerOperation,
  listAttentionOperation,
  listPerspectivesOperation,
  listSalvageOperation,
  listWorkersOperation,
  markGoalDoneOperation,
  markGoalFailedOperation,
  mergeOperation,
  overlapsOperation,
  pauseOperation,
  readWorkerOutputOperation,
  reflowOperation,
  reportBlockedOperation,
  reportDoneOperation,
  reportProgressOperation,
  restoreSalvageOperation,
  sendToWorkerOperation,
  spawnWorkerOperation,
  statusOperation,
  stopOperation,
  verifyOperation,
  waitForWorkerOperation,
  workerDiffOperation,
];
