import { join } from 'node:path';
import type { FrozenCommand } from '../../core/events/index.js';
import { readTextFile } from '../../platform/files.js';

const FILE_LIMIT = 4_000;

/**
 * PROJECT.md, then CONVENTIONS.md (a copy at the top of the project wins over `.agentorchestr/`), each cut at 4000
 * characters with a visible mark. Byte-stable across runs; '' when there is neither.
 */
export async function projectPreamble(project: string): Promise<string> {
  const parts: string[] = [];
  for (const name of ['PROJECT.md', 'CONVENTIONS.md']) {
    const text = (await projectFile(project, name))?.text.trim() ?? '';
    if (text !== '')
      parts.push(text.length > FILE_LIMIT ? `${text.slice(0, FILE_LIMIT)}\n[truncated]` : text);
  }
  return parts.join('\n\n');
}

export async function projectFile(
  project: string,
  name: string,
): Promise<{ path: string; text: string } | null> {
  for (const path of [join(project, name), join(project, '.agentorchestr', name)]) {
    const text = await readTextFile(path);
    if (text !== null) return { path, text };
  }
  return null;
}

/**
 * The machine-read lists of PROJECT.md: `- <label>: <command>` under "How to verify" and "How to set up". A command in
 * backticks is taken without them; lines of prose are ignored.
 */
export function parseProjectCommands(
  text: string,
  source: string,
): { verify: FrozenCommand[]; setup: FrozenCommand[] } {
  const verify: FrozenCommand[] = [];
  const setup: FrozenCommand[] = [];
  let section: FrozenCommand[] | null = null;
  for (const line of text.split('\n')) {
    const heading = /^#{1,6}\s+(.*?)\s*#*$/.exec(line)?.[1]?.toLowerCase();
    if (heading !== undefined) {
      section = heading === 'how to verify' ? verify : heading === 'how to set up' ? setup : null;
      continue;
    }
    const item = /^\s*[-*]\s+([A-Za-z][\w .-]*?)\s*:\s+(\S.*?)\s*$/.exec(line);
    if (section === null || item === null) continue;
    const command = /^`(.+)`$/.exec(item[2] ?? '')?.[1] ?? item[2] ?? '';
    if (command !== '' && !command.startsWith('{{')) section.push({ label: item[1] ?? '', command, source });
  }
  return { verify, setup };
}

/** What a project without a list most likely verifies with, from its manifests. The caller says aloud that it was guessed. */
export async function detectVerifyCommands(
  project: string,
  isLeftOut: (file: string) => boolean,
): Promise<FrozenCommand[]> {
  const read = (file: string) => (isLeftOut(file) ? null : readTextFile(join(project, file)));
  const manifest = await read('package.json');
  if (manifest !== null) return fromPackageJson(manifest);
  const guesses: readonly (readonly [string, string])[] = [
    ['Cargo.toml', 'cargo test'],
    ['go.mod', 'go test ./...'],
    ['pyproject.toml', 'python3 -m pytest -q'],
    ['Makefile', 'make test'],
  ];
  for (const [file, command] of guesses) {
    const text = await read(file);
    if (text === null || (file === 'Makefile' && !/^test:/m.test(text))) continue;
    return [{ label: 'test', command, source: file }];
  }
  return [];
}

function fromPackageJson(text: string): FrozenCommand[] {
  let scripts: unknown;
  try {
    scripts = (JSON.parse(text) as { scripts?: unknown }).scripts;
  } catch {
    return [];
  }
  const test =
    typeof scripts === 'object' && scripts !== null
      ? (scripts as Record<string, unknown>)['test']
      : undefined;
  if (typeof test !== 'string' || test.includes('no test specified')) return [];
  return [{ label: 'test', command: 'npm test', source: 'package.json' }];
}
