import type { Operation } from '../operation.js';
import { markGoalDoneOperation, markGoalFailedOperation, reportProgressOperation } from './goal.js';
import { askLeadOperation, reportBlockedOperation, reportDoneOperation } from './report.js';
import {
  crossReviewOperation,
  integrateWorkerOperation,
  integrationStatusOperation,
  listPerspectivesOperation,
  overlapsOperation,
  workerDiffOperation,
} from './review.js';
import { pauseOperation, statusOperation } from './session.js';
import { spawnWorkerOperation } from './spawn-worker.js';
import { verifyOperation } from './verify.js';
import {
  killWorkerOperation,
  listWorkersOperation,
  readWorkerOutputOperation,
  sendToWorkerOperation,
  waitForWorkerOperation,
} from './workers.js';

/** The one operation table: every door is a projection of it. Adding an operation: one file (or entry), one line here. */
export const OPERATIONS: readonly Operation[] = [
  askLeadOperation,
  crossReviewOperation,
  integrateWorkerOperation,
  integrationStatusOperation,
  killWorkerOperation,
  listPerspectivesOperation,
  listWorkersOperation,
  markGoalDoneOperation,
  markGoalFailedOperation,
  overlapsOperation,
  pauseOperation,
  readWorkerOutputOperation,
  reportBlockedOperation,
  reportDoneOperation,
  reportProgressOperation,
  sendToWorkerOperation,
  spawnWorkerOperation,
  statusOperation,
  verifyOperation,
  waitForWorkerOperation,
  workerDiffOperation,
];
