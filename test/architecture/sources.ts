import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

export const REPOSITORY = resolve(import.meta.dirname, '../..');

export interface SourceFile {
  /** From the top of the repository. */
  readonly path: string;
  readonly text: string;
}

/** Every file below `folder` whose name ends in one of `extensions`, fixtures left out. */
export function sourceFiles(folder: string, extensions: readonly string[] = ['.ts']): SourceFile[] {
  return readdirSync(join(REPOSITORY, folder), { recursive: true, encoding: 'utf8' })
    .filter(
      (name) => extensions.some((extension) => name.endsWith(extension)) && !name.startsWith('fixtures/'),
    )
    .map((name) => join(folder, name))
    .sort()
    .map((path) => ({ path, text: readFileSync(join(REPOSITORY, path), 'utf8') }));
}

/** `path:line: text` of every line that `pattern` matches. */
export function linesMatching(files: readonly SourceFile[], pattern: RegExp): string[] {
  return files.flatMap(({ path, text }) =>
    text
      .split('\n')
      .flatMap((line, index) => (pattern.test(line) ? [`${path}:${index + 1}: ${line.trim()}`] : [])),
  );
}
