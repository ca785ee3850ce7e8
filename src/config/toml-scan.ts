import { parse } from 'smol-toml';

/** One `key = value`. Paths are whole: those of its table come first; elements of arrays of tables by their number. */
export interface TomlEntry {
  readonly path: readonly string[];
  /** How many parts of the path are the table's. */
  readonly depth: number;
  /** 1-based. */
  readonly line: number;
  readonly valueStart: number;
  readonly valueEnd: number;
}

export interface TomlTable {
  readonly path: readonly string[];
  readonly line: number;
  /** Behind its header. */
  readonly end: number;
}

export interface TomlPlaces {
  readonly entries: readonly TomlEntry[];
  readonly tables: readonly TomlTable[];
}

const BLANK = /[ \t\r\n]/;

/** Where things stand in a text that a TOML parser has taken: the parser itself does not say. Inline tables are values. */
export function scanToml(text: string): TomlPlaces {
  const entries: TomlEntry[] = [];
  const tables: TomlTable[] = [];
  const counts = new Map<string, number>();
  let table: readonly string[] = [];
  let at = text.startsWith('\uFEFF') ? 1 : 0;
  while (at < text.length) {
    const letter = text[at] ?? '';
    if (BLANK.test(letter)) at++;
    else if (letter === '#') at = lineEnd(text, at);
    else if (letter === '[') {
      const isList = text[at + 1] === '[';
      const line = lineOf(text, at);
      const { keys, end } = readKeys(text, at + (isList ? 2 : 1));
      table = withNumbers(keys, counts, isList);
      at = end + (isList ? 2 : 1);
      tables.push({ path: table, line, end: at });
    } else {
      const line = lineOf(text, at);
      const { keys, end } = readKeys(text, at);
      const valueStart = skipSpaces(text, end + 1);
      const valueEnd = endOfValue(text, valueStart);
      entries.push({ path: [...table, ...keys], depth: table.length, line, valueStart, valueEnd });
      at = valueEnd;
    }
  }
  return { entries, tables };
}

/** The line of a key, or of the nearest thing around it. */
export function lineOfKey({ entries, tables }: TomlPlaces, path: readonly string[]): number | null {
  for (let length = path.length; length > 0; length--) {
    const part = path.slice(0, length);
    const found =
      entries.find((entry) => isSame(entry.path, part)) ??
      tables.find((table) => isSame(table.path, part)) ??
      [...entries, ...tables].find((inside) => isSame(inside.path.slice(0, length), part));
    if (found !== undefined) return found.line;
  }
  return null;
}

export function isSame(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((part, index) => part === b[index]);
}

/** `[[a]]` is another element of a list; what is below `a` belongs to its last one. */
function withNumbers(keys: readonly string[], counts: Map<string, number>, isList: boolean): string[] {
  const path: string[] = [];
  keys.forEach((key, index) => {
    path.push(key);
    const name = JSON.stringify(path);
    const isLast = index === keys.length - 1;
    if (isLast && isList) counts.set(name, (counts.get(name) ?? -1) + 1);
    const count = counts.get(name);
    if (count !== undefined) path.push(String(count));
  });
  return path;
}

function readKeys(text: string, from: number): { keys: string[]; end: number } {
  const keys: string[] = [];
  let at = skipSpaces(text, from);
  for (;;) {
    const quote = text[at];
    const isQuoted = quote === '"' || quote === "'";
    const end = isQuoted ? endOfString(text, at) : endOfBare(text, at);
    const raw = text.slice(at, end);
    keys.push(isQuoted ? (parse(`k = ${raw}`)['k'] as string) : raw);
    at = skipSpaces(text, end);
    if (text[at] !== '.') return { keys, end: at };
    at = skipSpaces(text, at + 1);
  }
}

function endOfBare(text: string, from: number): number {
  let at = from;
  while (/[A-Za-z0-9_-]/.test(text[at] ?? '')) at++;
  if (at === from) throw new Error(`no TOML key at offset ${from}`);
  return at;
}

function endOfValue(text: string, from: number): number {
  let depth = 0;
  let end = from;
  for (let at = from; at < text.length;) {
    const letter = text[at] ?? '';
    if (letter === '"' || letter === "'") at = end = endOfString(text, at);
    else if (letter === '#') {
      if (depth === 0) return end;
      at = lineEnd(text, at);
    } else if (letter === '\n' && depth === 0) return end;
    else {
      if (letter === '[' || letter === '{') depth++;
      if (letter === ']' || letter === '}') depth--;
      at++;
      if (!BLANK.test(letter)) end = at;
    }
  }
  return end;
}

function endOfString(text: string, from: number): number {
  const quote = text[from] ?? '';
  const isLong = text.startsWith(quote.repeat(3), from);
  const close = isLong ? quote.repeat(3) : quote;
  let at = from + close.length;
  while (at < text.length && !text.startsWith(close, at)) at += quote === '"' && text[at] === '\\' ? 2 : 1;
  at += close.length;
  // Up to two quotes of the text itself may stand before the closing ones.
  for (let more = 0; isLong && more < 2 && text[at] === quote; more++) at++;
  return at;
}

function skipSpaces(text: string, from: number): number {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t') at++;
  return at;
}

function lineEnd(text: string, from: number): number {
  const end = text.indexOf('\n', from);
  return end === -1 ? text.length : end;
}

function lineOf(text: string, at: number): number {
  return text.slice(0, at).split('\n').length;
}
