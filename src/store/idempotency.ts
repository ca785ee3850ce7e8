import { OrchestratorError } from '../core/errors/error.js';
import type { Sql } from './sql.js';

export function recall(sql: Sql, scope: string, key: string, inputHash: string): { result: unknown } | null {
  const row = sql.get(
    'SELECT input_hash, result FROM idempotency_keys WHERE scope = ? AND key = ?',
    scope,
    key,
  );
  if (row === undefined) return null;
  if (row['input_hash'] !== inputHash) throw new OrchestratorError('IDEMPOTENCY_KEY_REUSED', { key });
  return { result: JSON.parse(String(row['result'])) as unknown };
}

/** A key is remembered once; doing it again without recalling first is a fault of the caller and throws. */
export function remember(
  sql: Sql,
  entry: { scope: string; key: string; inputHash: string; result: unknown },
): void {
  sql.run(
    'INSERT INTO idempotency_keys (scope, key, input_hash, result) VALUES (?, ?, ?, ?)',
    entry.scope,
    entry.key,
    entry.inputHash,
    JSON.stringify(entry.result ?? null),
  );
}
