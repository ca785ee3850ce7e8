import { parse, TomlError } from 'smol-toml';
import { OrchestratorError } from '../core/errors/error.js';
import { nearest } from '../core/nearest.js';
import { lineOfKey, scanToml, type TomlPlaces } from './toml-scan.js';

/** A TOML file as it was read. */
export interface TomlFile {
  readonly path: string;
  readonly text: string;
  readonly value: Readonly<Record<string, unknown>>;
  readonly places: TomlPlaces;
}

/** Throws SETTINGS_INVALID with the line where the parser gave up. */
export function parseToml(path: string, text: string): TomlFile {
  try {
    const value = parse(text.replace(/^\uFEFF/, '')) as Record<string, unknown>;
    return { path, text, value, places: scanToml(text) };
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [problem = 'it is not TOML'] = error.message.replace(/^Invalid TOML document: /, '').split('\n');
    throw new OrchestratorError(
      'SETTINGS_INVALID',
      { where: `${path}:${error.line}`, problem: `it is not TOML: ${problem}` },
      { cause: error },
    );
  }
}

/** `file:line` of a key, or of what stands around it. */
export function placeOf(file: TomlFile, key: readonly string[]): string {
  const line = lineOfKey(file.places, key);
  return line === null ? file.path : `${file.path}:${line}`;
}

export function invalid(
  file: TomlFile,
  key: readonly string[],
  what: { problem: string; hint?: string },
): OrchestratorError {
  return new OrchestratorError('SETTINGS_INVALID', {
    where: placeOf(file, key),
    problem: what.problem,
    hint: what.hint,
  });
}

/** For a key that nobody knows: the nearest one, also by its last part alone, or all there are. */
export function unknownKeyHint(typed: string, known: readonly string[]): string {
  const meant = nearest(typed, known) ?? nearestByLastPart(typed, known);
  return meant === null ? `keys are: ${known.join(', ')}` : `did you mean ${meant}?`;
}

function nearestByLastPart(typed: string, known: readonly string[]): string | null {
  const lastPart = (key: string) => key.slice(key.lastIndexOf('.') + 1);
  const meant = nearest(lastPart(typed), known.map(lastPart));
  return meant === null ? null : (known.find((key) => lastPart(key) === meant) ?? null);
}
