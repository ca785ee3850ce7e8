import { nearest } from '../../nearest.js';
import type { Category } from '../categories.js';

export type ErrorParams = Record<string, string | number | boolean | readonly string[] | undefined>;

export interface CatalogEntry {
  readonly category: Category;
  readonly message: (p: ErrorParams) => string;
  readonly hint?: (p: ErrorParams) => string;
  /** Only where one status differs from its category's (401, 413, 422). */
  readonly http?: number;
}

export const list = (value: ErrorParams[string]) =>
  Array.isArray(value) ? value.join(', ') : String(value ?? '');

const TEXT_MOST = 400;
/** A text of many lines in a message of one. */
export const flat = (value: ErrorParams[string]) => {
  const line = list(value)
    .trim()
    .replace(/\s*\n\s*/g, ' / ');
  return line.length > TEXT_MOST ? `${line.slice(0, TEXT_MOST)}…` : line;
};

/** The one of `valid` that was most likely meant, or else all that there are to say. */
export const nearestOr = (typed: ErrorParams[string], valid: ErrorParams[string], otherwise: string) => {
  const meant = nearest(String(typed), Array.isArray(valid) ? valid : []);
  return meant === null ? otherwise : `did you mean ${meant}?`;
};
