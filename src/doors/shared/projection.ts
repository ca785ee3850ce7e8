import { z } from 'zod';
import type { Operation } from '../../services/operation.js';

/** JSON Schema of what a caller may send: fields with defaults are optional. */
export function inputSchema(operation: Pick<Operation, 'input'>): Record<string, unknown> {
  return strip(z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }));
}

export function outputSchema(schema: z.ZodType): Record<string, unknown> {
  return strip(z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }));
}

/** zod bounds every integer by ±2^53, which says nothing to a reader. */
function strip(schema: object): Record<string, unknown> {
  return JSON.parse(
    JSON.stringify(schema, (key, value: unknown) =>
      (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) ||
      (key === 'minimum' && value === Number.MIN_SAFE_INTEGER) ||
      key === '$schema'
        ? undefined
        : value,
    ),
  ) as Record<string, unknown>;
}

/** spawn_worker → spawn-worker, as commands and paths are written. */
export function kebab(name: string): string {
  return name.replaceAll('_', '-');
}
