import { OrchestratorError } from '../../core/errors/error.js';

/** What we ask for needs five; whoever walks through more may run out of stack. */
const MOST_LEVELS = 64;

/** A body or message from outside. Throws INVALID_JSON, for what is nested without end too. */
export function parseJson(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    throw new OrchestratorError('INVALID_JSON', { problem: (error as Error).message });
  }
  if (isDeeper(value, MOST_LEVELS))
    throw new OrchestratorError('INVALID_JSON', {
      problem: `it is nested deeper than ${MOST_LEVELS} levels`,
    });
  return value;
}

/** Level by level, without a call for each. */
function isDeeper(value: unknown, levels: number): boolean {
  let here = [value];
  for (let level = 0; level <= levels; level++) {
    here = here.flatMap(parts);
    if (here.length === 0) return false;
  }
  return true;
}

function parts(value: unknown): unknown[] {
  return typeof value === 'object' && value !== null ? Object.values(value as Record<string, unknown>) : [];
}
