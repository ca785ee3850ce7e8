import { importGraph, type SourceText } from './imports.js';

const BETWEEN = /(<!-- imports: [^>]* -->\n)[\s\S]*?(<!-- end of imports -->)/;

/** The text of ARCHITECTURE.md with its graph of imports drawn anew. */
export function withImportGraph(text: string, files: readonly SourceText[]): string {
  if (!BETWEEN.test(text))
    throw new Error('ARCHITECTURE.md has lost the comments around its graph of imports');
  return text.replace(
    BETWEEN,
    (_, start: string, end: string) => `${start}\n\`\`\`mermaid\n${importGraph(files)}\n\`\`\`\n\n${end}`,
  );
}
