import { isDeepStrictEqual } from 'node:util';
import { OrchestratorError } from '../core/errors/error.js';
import type { SettingValue } from './schema.js';
import { invalid, parseToml, type TomlFile } from './toml-file.js';
import { isSame } from './toml-scan.js';

/**
 * The file's text with one value changed or added; every other byte stays. Throws SETTINGS_INVALID where the key cannot
 * be changed without touching more than its value.
 */
export function withValue(file: TomlFile, path: readonly string[], value: SettingValue): string {
  const text = edited(file, path, literal(value));
  checkOnlyThat(file, text, { path, value });
  return text;
}

/** The file's text without one value, its line and what stands on it; null: it is not there. Throws SETTINGS_INVALID. */
export function withoutValue(file: TomlFile, path: readonly string[]): string | null {
  const { text, places } = file;
  const present = places.entries.find((entry) => isSame(entry.path, path));
  if (present === undefined) {
    if (valueAt(file.value, path) === undefined) return null;
    throw notAlone(file, path, 'unset');
  }
  const before = text.slice(0, present.valueStart);
  const start = before.lastIndexOf('\n') + 1;
  const mark = start === 0 && text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return `${text.slice(0, start)}${mark}${text.slice(lineEndAt(text, present.valueEnd))}`;
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (at, key) => (typeof at === 'object' && at !== null ? (at as Record<string, unknown>)[key] : undefined),
    value,
  );
}

function edited(file: TomlFile, path: readonly string[], written: string): string {
  const { text, places } = file;
  const present = places.entries.find((entry) => isSame(entry.path, path));
  if (present !== undefined)
    return `${text.slice(0, present.valueStart)}${written}${text.slice(present.valueEnd)}`;
  const section = path.slice(0, -1);
  const inSection = (other: readonly string[]) => isSame(other.slice(0, -1), section);
  const sibling = places.entries.findLast((entry) => inSection(entry.path));
  if (sibling !== undefined)
    return withLine(text, lineEndAt(text, sibling.valueEnd), assignment(path.slice(sibling.depth), written));
  const table = places.tables.findLast((known) => isSame(known.path, section));
  if (table !== undefined)
    return withLine(text, lineEndAt(text, table.end), assignment(path.slice(-1), written));
  if (section.length === 0) return atTop(file, assignment(path, written));
  const eol = endOfLine(text);
  const gap = text === '' ? '' : text.endsWith('\n') ? eol : `${eol}${eol}`;
  return `${text}${gap}[${section.map(bareOrQuoted).join('.')}]${eol}${assignment(path.slice(-1), written)}${eol}`;
}

/** Keys without a table stand before the first header. */
function atTop({ text, places }: TomlFile, line: string): string {
  const eol = endOfLine(text);
  if (places.tables.length === 0) {
    const gap = text === '' || text.endsWith('\n') ? '' : eol;
    return `${text}${gap}${line}${eol}`;
  }
  const mark = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return `${mark}${line}${eol}${eol}${text.slice(mark.length)}`;
}

function withLine(text: string, at: number, line: string): string {
  const eol = endOfLine(text);
  return at === text.length
    ? `${text}${text.endsWith('\n') ? '' : eol}${line}${eol}`
    : `${text.slice(0, at)}${line}${eol}${text.slice(at)}`;
}

/** Behind the line break of the line that `at` stands in. */
function lineEndAt(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end === -1 ? text.length : end + 1;
}

function endOfLine(text: string): string {
  return text.includes('\r\n') ? '\r\n' : '\n';
}

function assignment(path: readonly string[], written: string): string {
  return `${path.map(bareOrQuoted).join('.')} = ${written}`;
}

function bareOrQuoted(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : JSON.stringify(key);
}

/** JSON's strings, numbers, booleans and lists of strings are TOML's, but for one control character. */
export function literal(value: SettingValue): string {
  if (Array.isArray(value)) return `[${value.map((part: string) => literal(part)).join(', ')}]`;
  return JSON.stringify(value).replaceAll('\u007f', String.raw`\u007f`);
}

/** The edit is by lines; the parser judges it. */
function checkOnlyThat(
  file: TomlFile,
  text: string,
  { path, value }: { path: readonly string[]; value: SettingValue },
): void {
  const expected = structuredClone(file.value) as Record<string, unknown>;
  try {
    put(expected, path, value);
    if (isDeepStrictEqual(plain(parseToml(file.path, text).value), plain(expected))) return;
  } catch (error) {
    if (!(error instanceof OrchestratorError || error instanceof TypeError)) throw error;
  }
  throw notAlone(file, path, 'set');
}

function notAlone(file: TomlFile, path: readonly string[], what: 'set' | 'unset'): OrchestratorError {
  return invalid(file, path, {
    problem: `"${path.join('.')}" cannot be ${what} without changing more than that`,
    hint: what === 'set' ? `write it into ${file.path} by hand` : `take it out of ${file.path} by hand`,
  });
}

function put(target: Record<string, unknown>, path: readonly string[], value: SettingValue): void {
  let table = target;
  for (const key of path.slice(0, -1)) {
    table[key] ??= {};
    table = table[key] as Record<string, unknown>;
  }
  table[path.at(-1) ?? ''] = value;
}

/** The parser's tables have no prototype. */
function plain(value: unknown): unknown {
  return JSON.parse(
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)),
  );
}
