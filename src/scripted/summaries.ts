import { brief } from './template.js';

const CALL_VALUE = 60;
const RESULT_VALUE = 80;
const RESULT_LENGTH = 240;
/** What tells most comes first; the rest in its own order. */
const FIRST = ['state', 'code', 'worker_id', 'merged', 'summary', 'text'];

/** One line for people: `spawn_worker(task: Add …, perspective: tester)`. */
export function callLine(tool: string, input: Readonly<Record<string, unknown>>): string {
  const values = Object.entries(input).map(([key, value]) => `${key}: ${brief(oneLine(value), CALL_VALUE)}`);
  return `${tool}(${values.join(', ')})`;
}

/** One line for people: the fields of a result that say something. */
export function resultLine(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return brief(oneLine(value), RESULT_LENGTH);
  const entries = Object.entries(value).filter(([key, field]) => FIRST.includes(key) || !isEmpty(field));
  const rank = ([key]: readonly [string, unknown]) =>
    FIRST.includes(key) ? FIRST.indexOf(key) : FIRST.length;
  const fields = entries
    .toSorted((a, b) => rank(a) - rank(b))
    .map(([key, field]) => `${key} ${brief(short(field), RESULT_VALUE)}`);
  return brief(fields.join(' · '), RESULT_LENGTH);
}

function isEmpty(field: unknown): boolean {
  return (
    field === null ||
    field === '' ||
    field === undefined ||
    field === false ||
    (Array.isArray(field) && field.length === 0)
  );
}

/** A list of things is told by their names, where they have any. */
function short(field: unknown): string {
  if (!Array.isArray(field)) return oneLine(field);
  return field.map((item: unknown) => nameOf(item) ?? oneLine(item)).join(', ');
}

function nameOf(item: unknown): string | null {
  if (typeof item !== 'object' || item === null) return null;
  const { worker_id, state, path, command, exit_code } = item as Record<string, unknown>;
  if (typeof worker_id === 'string') return typeof state === 'string' ? `${worker_id} ${state}` : worker_id;
  if (typeof command === 'string')
    return typeof exit_code === 'number' ? `${command} → ${exit_code}` : command;
  return typeof path === 'string' ? path : null;
}

function oneLine(value: unknown): string {
  return (typeof value === 'string' ? value : (JSON.stringify(value) ?? '')).replace(/\s+/g, ' ').trim();
}
