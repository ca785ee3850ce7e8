import { z } from 'zod';
import type { Operation } from '../../services/operation.js';

/** JSON Schema of what a caller may send: fields with defaults are optional. */
export function inputSchema(operation: Pick<Operation, 'input'>): Record<string, unknown> {
  return strip(z.toJSONSchema(operation.input, { io: 'input', unrepresentable: 'any' }));
}

/** One field of that. */
export interface Property {
  /** Several where the wire takes more than one. */
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly const?: string;
  readonly default?: unknown;
  readonly items?: { readonly type?: string };
}

export function propertiesOf(operation: Pick<Operation, 'input'>): Readonly<Record<string, Property>> {
  return (inputSchema(operation)['properties'] ?? {}) as Record<string, Property>;
}

export const isList = (property: Property): boolean => property.type === 'array';
export const isRecord = (property: Property): boolean => property.type === 'object';
export const isSwitch = ({ type }: Property): boolean =>
  type === 'boolean' || type?.includes('boolean') === true;
export const isNumber = ({ type }: Property): boolean => type === 'integer' || type === 'number';

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
