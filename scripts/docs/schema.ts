import { z } from 'zod';
import { code, table } from './markdown.js';

interface JsonSchema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly anyOf?: readonly JsonSchema[];
  readonly items?: JsonSchema;
  readonly properties?: Readonly<Record<string, JsonSchema>>;
  readonly additionalProperties?: JsonSchema | boolean;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly default?: unknown;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A table of the fields of an object schema, or a line that says that there are none. */
export function fieldTable(schema: z.ZodType, io: 'input' | 'output'): string {
  const json = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as JsonSchema;
  const fields = Object.entries(json.properties ?? {});
  if (fields.length === 0) return 'No fields.';
  const required = new Set(json.required ?? []);
  return table(
    ['field', 'type', 'meaning'],
    fields.map(([name, field]) => [
      required.has(name) ? code(name) : `${code(name)} (optional)`,
      typeOf(field),
      meaningOf(field),
    ]),
  );
}

function meaningOf({ description, default: fallback }: JsonSchema): string {
  const value = fallback === undefined ? '' : `default ${code(JSON.stringify(fallback))}`;
  return [description ?? '', value].filter((part) => part !== '').join('; ');
}

function typeOf(schema: JsonSchema): string {
  if (schema.enum !== undefined) return schema.enum.map((value) => code(String(value))).join(' or ');
  if (schema.const !== undefined) return code(JSON.stringify(schema.const));
  if (schema.anyOf !== undefined) return schema.anyOf.map(typeOf).join(' or ');
  if (schema.type === 'array') return `list of ${typeOf(schema.items ?? {})}`;
  if (schema.type === 'object') return objectType(schema);
  const types = schema.type === undefined ? ['anything'] : [schema.type].flat();
  return `${types.join(' or ')}${range(schema)}`;
}

function objectType(schema: JsonSchema): string {
  if (schema.properties !== undefined) return `{ ${Object.keys(schema.properties).map(code).join(', ')} }`;
  return typeof schema.additionalProperties === 'object'
    ? `map of ${typeOf(schema.additionalProperties)}`
    : 'object';
}

/** zod bounds every integer by ±2^53; those bounds say nothing. */
function range({ minimum, maximum }: JsonSchema): string {
  const low = minimum !== undefined && minimum !== Number.MIN_SAFE_INTEGER ? `from ${minimum}` : '';
  const high = maximum !== undefined && maximum !== Number.MAX_SAFE_INTEGER ? `to ${maximum}` : '';
  return [low, high]
    .filter((part) => part !== '')
    .map((part) => ` ${part}`)
    .join('');
}
