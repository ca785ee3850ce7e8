import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withImportGraph } from '../../scripts/docs/architecture.js';
import { renderReference } from '../../scripts/docs/reference.js';
import { CATALOG } from '../../src/core/errors/catalog.js';
import { EVENTS } from '../../src/core/events/index.js';
import { REPOSITORY, sourceFiles } from './sources.js';

const folder = join(REPOSITORY, 'docs/reference');
const pages = renderReference();
const architecture = join(REPOSITORY, 'ARCHITECTURE.md');
const drawnAnew = (): string => withImportGraph(readFileSync(architecture, 'utf8'), sourceFiles('src'));
const headings = (text: string): string[] =>
  [...text.matchAll(/^### (.+)$/gm)].map((match) => match[1] ?? '').sort();

// `npm run docs` is this file with UPDATE_DOCS=1.
if (process.env['UPDATE_DOCS'] === '1') {
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(pages)) writeFileSync(join(folder, name), text);
  writeFileSync(architecture, drawnAnew());
}

it('the graph of imports in ARCHITECTURE.md is fresh (if not: npm run docs)', () => {
  expect(readFileSync(architecture, 'utf8')).toBe(drawnAnew());
});

describe('docs/reference', () => {
  it.each(Object.entries(pages))('%s is fresh (if not: npm run docs)', (name, text) => {
    expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
  });

  it('holds generated pages, and the figures that npm run bench writes, only', () => {
    expect(readdirSync(folder).sort()).toEqual([...Object.keys(pages), 'performance.md'].sort());
  });

  it('errors.md has one heading for every code of the catalogue', () => {
    expect(headings(readFileSync(join(folder, 'errors.md'), 'utf8'))).toEqual(Object.keys(CATALOG).sort());
  });

  it('events.md has one heading for every event of the table', () => {
    expect(headings(readFileSync(join(folder, 'events.md'), 'utf8'))).toEqual(Object.keys(EVENTS).sort());
  });

  it.each(Object.entries(EVENTS))('%s says when it is appended', (_, { doc }) => {
    expect(doc).toMatch(/^[A-Z].*\.$/);
  });
});
