import type { WorkerRow } from '../../core/state/rows.js';
import type { WorktreeStatus } from '../../git/contract.js';

/** Everything that the worker committed is in the integration branch; what it has not committed is not looked at. */
export function isIntegrated(
  { integrated_commit: integrated }: WorkerRow,
  { commitsBeyondBase, head }: Pick<WorktreeStatus, 'commitsBeyondBase' | 'head'>,
): boolean {
  return commitsBeyondBase === 0 || head === integrated;
}
