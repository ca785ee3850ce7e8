export type Fields = Readonly<Record<string, unknown>>;

/** A line of JSON as an object; empty for anything else, half a line included. */
export function parseLine(line: string): Fields {
  try {
    return fieldsOf(JSON.parse(line));
  } catch {
    return {};
  }
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

export function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(fieldsOf) : [];
}
