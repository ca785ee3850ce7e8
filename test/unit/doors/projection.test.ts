import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { inputSchema, kebab, outputSchema } from '../../../src/doors/shared/projection.js';
import { defineOperation, EVERY_DOOR } from '../../../src/services/operation.js';
import { OPERATIONS } from '../../../src/services/operations/index.js';

const table = OPERATIONS.map((operation) => ({ name: operation.name, operation }));

type Json = Record<string, unknown>;

/** Every object of a schema, with the path to it. */
function nodes(schema: Json, path = ''): { path: string; node: Json }[] {
  const below = Object.entries(schema).flatMap(([key, value]) =>
    typeof value === 'object' && value !== null ? nodes(value as Json, `${path}/${key}`) : [],
  );
  return [{ path, node: schema }, ...below];
}

/** Field names that say what they are: describing them again would only be longer. */
const SELF_EVIDENT =
  /^(worker_(ids?|a|b)|question|message|summary|reason|force_reason|focus|strategy|mode|timeout_s|tail_lines|stat_only)$/;

describe.each(table)('the schema of $name', ({ operation }) => {
  const input = inputSchema(operation);
  const output = outputSchema(operation.output);

  it('has no bounds that say nothing to a reader', () => {
    const bounds = [...nodes(input), ...nodes(output)].flatMap(({ path, node }) =>
      [node['minimum'], node['maximum']]
        .filter((bound) => typeof bound === 'number' && Math.abs(bound) > 2 ** 52)
        .map((bound) => `${path} ${String(bound)}`),
    );
    expect(bounds).toEqual([]);
  });

  it('is an object of one level that MCP clients can read: no references, no dialect', () => {
    expect([input['type'], output['type']]).toEqual(['object', 'object']);
    const keys = [...nodes(input), ...nodes(output)].flatMap(({ node }) => Object.keys(node));
    expect(keys.filter((key) => ['$ref', '$defs', '$schema', 'definitions'].includes(key))).toEqual([]);
  });

  it('describes every field of its input that its name does not', () => {
    const properties = (input['properties'] ?? {}) as Record<string, Json>;
    const silent = Object.entries(properties)
      .filter(([name, field]) => field['description'] === undefined && !SELF_EVIDENT.test(name))
      .map(([name]) => name);
    expect(silent).toEqual([]);
  });

  it('asks for nothing that has a default', () => {
    const properties = (input['properties'] ?? {}) as Record<string, Json>;
    const required = (input['required'] ?? []) as string[];
    expect(required.filter((name) => 'default' in (properties[name] ?? {}))).toEqual([]);
  });

  it('is JSON Schema that zod reads back, and that takes what the operation takes', () => {
    const again = z.fromJSONSchema(input);
    const parsed = operation.input.safeParse({});
    expect(again.safeParse({}).success).toBe(parsed.success);
  });
});

describe('a schema', () => {
  const operation = defineOperation({
    name: 'try_it',
    summary: 'Only for this test.',
    effect: 'read',
    idempotent: true,
    scopes: ['lead'],
    doors: EVERY_DOOR,
    input: z.object({
      count: z.coerce.number().int().default(3),
      few: z.number().int().min(1).max(9),
      text: z.string().optional().describe('what to say'),
    }),
    output: z.object({ count: z.number().int() }),
    run: async () => ({ count: 1 }),
  });

  it('keeps the bounds that somebody chose, and drops those of the number format', () => {
    expect(inputSchema(operation)).toEqual({
      type: 'object',
      properties: {
        count: { type: 'integer', default: 3 },
        few: { type: 'integer', minimum: 1, maximum: 9 },
        text: { type: 'string', description: 'what to say' },
      },
      required: ['few'],
    });
    expect(outputSchema(operation.output)).toEqual({
      type: 'object',
      properties: { count: { type: 'integer' } },
      required: ['count'],
      additionalProperties: false,
    });
  });
});

it.each([
  ['spawn_worker', 'spawn-worker'],
  ['verify', 'verify'],
  ['a_b_c', 'a-b-c'],
])('%s is written %s in commands and paths', (name, written) => {
  expect(kebab(name)).toBe(written);
});
