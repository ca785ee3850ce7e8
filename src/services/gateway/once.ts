import { hashOf } from '../../platform/ids.js';
import type { Transaction } from '../../store/contract.js';

export interface Keyed {
  /** One operation on one thing: the same key elsewhere is another key. */
  readonly scope: string;
  readonly key: string | undefined;
  /** What was asked for, without the key. */
  readonly input: unknown;
}

/**
 * `work` once for each key, remembered in the transaction of its effect: of two that ask at the same time one works, the
 * other is told what came of it. What throws uses the key not up. Throws IDEMPOTENCY_KEY_REUSED.
 */
export function once<T>(
  tx: Transaction,
  { scope, key, input }: Keyed,
  work: () => T,
): { readonly result: T; readonly replayed: boolean } {
  if (key === undefined) return { result: work(), replayed: false };
  const hash = hashOf(input);
  const known = tx.recall(scope, key, hash);
  if (known !== null) return { result: known.result as T, replayed: true };
  const result = work();
  tx.remember(scope, key, hash, result);
  return { result, replayed: false };
}
