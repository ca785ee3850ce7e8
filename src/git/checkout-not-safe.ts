import { OrchestratorError } from '../core/errors/error.js';
import type { ApplyOptions } from './contract.js';
import type { Environment } from './git-environment.js';
import { shellQuote } from '../platform/shell-quote.js';

/** The user's large files are theirs to have: in their checkout git-lfs works as always. */
export const USER_CHECKOUT: Environment = { GIT_LFS_SKIP_SMUDGE: '0' };

export function notSafe(
  options: ApplyOptions,
  problem: string,
  command = mergeCommand(options),
): OrchestratorError {
  return new OrchestratorError('CHECKOUT_NOT_SAFE', { problem, command });
}

function mergeCommand(options: ApplyOptions): string {
  return `git -C ${shellQuote(options.facts.checkout ?? options.facts.project)} merge ${shellQuote(options.resultBranch)}`;
}

export function branchCommand(options: ApplyOptions): string {
  const target = `${options.resultBranch}:${options.facts.branch ?? 'main'}`;
  return `git -C ${shellQuote(options.base.repository)} fetch . ${shellQuote(target)}`;
}
