import { USAGE_ERRORS } from './catalog/usage.js';
import { NOT_FOUND_ERRORS } from './catalog/not-found.js';
import { CONFLICT_ERRORS } from './catalog/conflict.js';
import { PRECONDITION_ERRORS } from './catalog/precondition.js';
import { DENIED_ERRORS } from './catalog/denied.js';
import { RUNNING_ERRORS } from './catalog/running.js';

export type { CatalogEntry, ErrorParams } from './catalog/entry.js';

/**
 * Every failure that a user or an agent can cause or fix, by category. Adding one: one entry in the file of its category
 * (docs/reference/errors.md is generated).
 */
export const CATALOG = {
  ...USAGE_ERRORS,
  ...NOT_FOUND_ERRORS,
  ...CONFLICT_ERRORS,
  ...PRECONDITION_ERRORS,
  ...DENIED_ERRORS,
  ...RUNNING_ERRORS,
} as const;

export type ErrorCode = keyof typeof CATALOG;
