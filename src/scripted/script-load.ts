import { LineCounter, parseDocument, type Document } from 'yaml';
import { OrchestratorError } from '../core/errors/error.js';
import { readTextFile } from '../platform/files.js';
import { scriptSchema, type Script } from './script-schema.js';

/** Reads and checks a script. Throws FILE_NOT_READABLE, or INVALID_INPUT with `file:line:column` for each mistake. */
export async function loadScript(path: string): Promise<Script> {
  const text = await readTextFile(path);
  if (text === null) throw new OrchestratorError('FILE_NOT_READABLE', { path, problem: 'it does not exist' });
  return parseScript(text, path);
}

export function parseScript(text: string, path: string): Script {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset);
    return `${path}:${line}:${col}`;
  };
  if (document.errors.length > 0)
    throw invalid(document.errors.map((error) => `${at(error.pos[0])}: ${error.message.split('\n')[0]}`));
  const result = scriptSchema.safeParse(document.toJS() ?? {});
  if (result.success) return result.data;
  throw invalid(
    result.error.issues.map((issue) => {
      const key = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined;
      const where = issue.path.map(String).join('.');
      return `${at(offsetOf(document, key === undefined ? issue.path : [...issue.path, key]))}: ${where === '' ? '' : `${where}: `}${issue.message}`;
    }),
  );
}

function invalid(problems: readonly string[]): OrchestratorError {
  return new OrchestratorError('INVALID_INPUT', {
    field: 'script',
    problem: problems.join('\n'),
    hint: 'correct the script and start again',
  });
}

/** Where the nearest existing node of a path begins. */
function offsetOf(document: Document, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true) as { range?: readonly number[] } | undefined;
    if (node?.range?.[0] !== undefined) return node.range[0];
  }
  return 0;
}
