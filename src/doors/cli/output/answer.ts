import { oneLine, plain } from './plain.js';
import { table } from './table.js';

const CELL_MOST = 60;
/** A field that is itself a text of many lines is printed below the others, as it is. */
const isBlock = (value: unknown): value is string => typeof value === 'string' && value.includes('\n');
const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Any answer of an operation for people: facts as lines, lists of records as tables, long texts below. */
export function renderAnswer(answer: Record<string, unknown>): string {
  const facts: string[][] = [];
  const blocks: string[] = [];
  for (const [name, value] of Object.entries(answer)) {
    const title = name.replaceAll('_', ' ');
    if (Array.isArray(value) && value.some(isRecord))
      blocks.push(`${title}\n${records(value.filter(isRecord))}`);
    else if (isRecord(value)) blocks.push(`${title}\n${table(lines(value), '  ')}`);
    else if (isBlock(value)) blocks.push(plain(value).trimEnd());
    else facts.push([title, cell(value)]);
  }
  return `${[table(facts), ...blocks].filter((part) => part !== '').join('\n\n')}\n`;
}

function records(list: readonly Record<string, unknown>[]): string {
  const columns = [...new Set(list.flatMap((record) => Object.keys(record)))];
  const used = columns.filter((column) => list.some((record) => !isEmpty(record[column])));
  return table(
    [
      used.map((column) => column.replaceAll('_', ' ')),
      ...list.map((record) => used.map((column) => oneLine(cell(record[column]), CELL_MOST))),
    ],
    '  ',
  );
}

function lines(record: Record<string, unknown>): string[][] {
  return Object.entries(record).map(([name, value]) => [
    name.replaceAll('_', ' '),
    oneLine(cell(value), 2 * CELL_MOST),
  ]);
}

function isEmpty(value: unknown): boolean {
  return (
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0)
  );
}

function cell(value: unknown): string {
  if (isEmpty(value)) return '-';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (Array.isArray(value)) return value.map(cell).join(', ');
  if (isRecord(value)) return Object.values(value).map(cell).join(': ');
  return plain(String(value));
}
