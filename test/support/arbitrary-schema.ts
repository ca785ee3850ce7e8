import fc from 'fast-check';
import { z } from 'zod';

/** Text as agents and screens make it, the hard parts included: half surrogates, NUL, quotes, other planes. */
const text = fc.oneof(
  fc.string({ maxLength: 20 }),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 8 })
    .map((codes) => String.fromCharCode(...codes)),
  fc.constantFrom('', "it's", '"', '\\ud800', '\u0000', 'null', '[]', '\u2028'),
);

/**
 * Values that a schema of the event table accepts. `valuesOf` may give the values of a text field by its name.
 * Throws for a kind of schema it does not know, so that a new one is noticed.
 */
export function arbitraryOf(
  schema: z.core.$ZodType,
  valuesOf: (field: string) => readonly string[] | undefined,
): fc.Arbitrary<unknown> {
  if (schema instanceof z.ZodString) return text;
  // Whole, since what is kept in a column of its own is a count, a pid or a status.
  if (schema instanceof z.ZodNumber) return fc.maxSafeInteger();
  if (schema instanceof z.ZodBoolean) return fc.boolean();
  if (schema instanceof z.ZodUnknown) return fc.jsonValue({ maxDepth: 2 });
  if (schema instanceof z.ZodEnum) return fc.constantFrom(...schema.options);
  if (schema instanceof z.ZodNullable)
    return fc.option(arbitraryOf(schema.unwrap(), valuesOf), { nil: null });
  if (schema instanceof z.ZodOptional)
    return fc.option(arbitraryOf(schema.unwrap(), valuesOf), { nil: undefined });
  if (schema instanceof z.ZodArray) return fc.array(arbitraryOf(schema.element, valuesOf), { maxLength: 3 });
  if (schema instanceof z.ZodRecord)
    return fc.dictionary(fc.string(), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 });
  if (schema instanceof z.ZodObject) return fc.record(fieldsOf(schema, valuesOf));
  throw new Error(`no generator for ${schema._zod.def.type}`);
}

function fieldsOf(schema: z.ZodObject, valuesOf: (field: string) => readonly string[] | undefined) {
  return Object.fromEntries(
    Object.entries<z.core.$ZodType>(schema.shape).map(([field, part]) => {
      const values = valuesOf(field);
      return [field, values === undefined ? arbitraryOf(part, valuesOf) : fc.constantFrom(...values)];
    }),
  );
}
