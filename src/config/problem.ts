import { z } from 'zod';
import { invalid, unknownKeyHint, type TomlFile } from './toml-file.js';

/** A file's value by a schema. Throws SETTINGS_INVALID with file, line and key of the first problem, and the nearest key for an unknown one. */
export function validated<T extends z.ZodType>(file: TomlFile, schema: T): z.output<T> {
  const parsed = schema.safeParse(file.value);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw new Error('a schema refused without a reason');
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys;
    throw invalid(file, [...path, key], {
      problem: `unknown key "${[...path, key].join('.')}"`,
      hint: unknownKeyHint(key, keysAt(schema, path)),
    });
  }
  const problem = issue.code === 'invalid_key' ? (issue.issues[0]?.message ?? issue.message) : issue.message;
  throw invalid(file, path, {
    problem: `"${path.join('.')}": ${problem}`,
    hint: 'correct the value; docs/guides/settings.md describes each key',
  });
}

/** The keys of the object that the path leads to. */
function keysAt(schema: z.ZodType, path: readonly string[]): readonly string[] {
  let at: unknown = schema;
  for (const part of path) {
    at = unwrapped(at);
    if (at instanceof z.ZodObject) at = at.shape[part];
    else if (at instanceof z.ZodRecord) at = at.valueType;
    else if (at instanceof z.ZodArray) at = at.element;
  }
  at = unwrapped(at);
  return at instanceof z.ZodObject ? Object.keys(at.shape) : [];
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional || schema instanceof z.ZodDefault
    ? unwrapped(schema.unwrap())
    : schema;
}
