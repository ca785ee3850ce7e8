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

/** The texts of content blocks, one below the other; what is no text is named by its type. */
export function textOfContent(content: unknown): string {
  if (typeof content === 'string') return content;
  return listOf(content)
    .map((block) => (block['type'] === 'text' ? textOf(block['text']) : `[${textOf(block['type'])}]`))
    .join('\n');
}
