import { expect, it } from 'vitest';
import { withImportGraph } from '../../../scripts/docs/architecture.js';
import { importGraph } from '../../../scripts/docs/imports.js';

/** One file per entry; what it imports is named from src, or is a package. */
const files = (imports: Readonly<Record<string, readonly string[]>>) =>
  Object.entries(imports).map(([path, targets]) => ({
    path: `src/${path}`,
    text: targets
      .map((target) => (target.includes('/') ? '../'.repeat(path.split('/').length - 1) : '') + target)
      .map((target) => `import type { A } from '${target}';`)
      .join('\n'),
  }));
const drawn = (imports: Readonly<Record<string, readonly string[]>>) => {
  const lines = importGraph(files(imports)).split('\n');
  return {
    boxes: lines.flatMap((line) => (/^ {4}\w+\["(.*)"\]$/.exec(line) ?? []).slice(1)),
    arrows: lines.filter((line) => />/.test(line) && !line.includes('[')).map((line) => line.trim()),
  };
};

it('draws solid what sees the inside, dotted what sees the contract only, and neither main nor packages', () => {
  expect(
    drawn({
      'main/cli.ts': ['git/merge.js', 'core/ids.js'],
      'services/engine/a.ts': ['git/contract.js', 'zod'],
      'services/engine/b.ts': ['agents/contract.js'],
      'services/engine/c.ts': ['agents/registry.js'],
      'git/merge.ts': [],
      'git/contract.ts': [],
      'agents/contract.ts': [],
    }),
  ).toEqual({
    boxes: ['services/engine', 'git', 'agents'],
    arrows: ['services_engine --> agents', 'services_engine -.-> git'],
  });
});

it('leaves out an arrow that follows from others; a solid one only where solid ones lead to the same', () => {
  expect(
    drawn({
      'services/engine/a.ts': ['store/contract.js', 'platform/files.js', 'core/ids.js'],
      'store/contract.ts': ['platform/files.js'],
      'platform/files.ts': ['core/ids.js'],
      'core/ids.ts': [],
    }).arrows,
  ).toEqual([
    'platform --> core',
    'services_engine --> platform',
    'services_engine -.-> store',
    'store --> platform',
  ]);
});

it('makes one box of folders that import each other, and of those with the same arrows', () => {
  expect(
    drawn({
      'doors/mcp/a.ts': ['services/operation.js'],
      'doors/rest/a.ts': ['services/operation.js'],
      'services/operation.ts': ['services/engine/b.js'],
      'services/engine/a.ts': ['services/operation.js', 'core/ids.js'],
      'core/ids.ts': [],
    }),
  ).toEqual({
    boxes: ['doors/mcp<br/>doors/rest', 'services/*.ts<br/>services/engine', 'core'],
    arrows: ['doors_mcp --> services_ts', 'services_ts --> core'],
  });
});

it('refuses a folder that has no ring, and a page without a place for the graph', () => {
  expect(() => importGraph(files({ 'utils/a.ts': [] }))).toThrow('src/utils/a.ts');
  expect(() => withImportGraph('# Architecture\n', [])).toThrow('ARCHITECTURE.md');
  expect(withImportGraph('a\n<!-- imports: b -->\nold\n<!-- end of imports -->\nc\n', [])).toMatch(
    /^a\n<!-- imports: b -->\n\n```mermaid\nflowchart TB\n[^`]+\n```\n\n<!-- end of imports -->\nc\n$/,
  );
});
