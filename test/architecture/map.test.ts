import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { REPOSITORY, sourceFiles } from './sources.js';

const read = (path: string): string => readFileSync(join(REPOSITORY, path), 'utf8');
const exists = (path: string): boolean => existsSync(join(REPOSITORY, path));

describe('ARCHITECTURE.md', () => {
  const text = read('ARCHITECTURE.md');

  const folders = [...new Set(sourceFiles('src').map(({ path }) => path.split('/').slice(0, 2).join('/')))];

  it.each(folders)('has %s on its map', (folder) => {
    expect(text).toMatch(new RegExp(`\`${folder}[/\`]`));
  });

  it('names only files that exist', () => {
    const named = [...text.matchAll(/`([\w./-]+\.ts)`/g)]
      .map((match) => match[1] ?? '')
      .filter((name) => name.includes('/'));
    expect(named.filter((name) => !exists(name) && !exists(`src/${name}`))).toEqual([]);
  });
});

describe('documents', () => {
  const documents = [
    'README.md',
    'ARCHITECTURE.md',
    'CONTRIBUTING.md',
    'CHANGELOG.md',
    'docs/adr/README.md',
  ].filter(exists);

  it.each(documents)('%s links only to files that exist', (document) => {
    const links = [...read(document).matchAll(/\]\(([^)#]+)(#[^)]*)?\)/g)]
      .map((match) => match[1] ?? '')
      .filter((link) => !link.includes('://'));
    expect(links.filter((link) => !exists(join(document, '..', link)))).toEqual([]);
  });

  it('the list of decisions has every decision', () => {
    const listed = [...read('docs/adr/README.md').matchAll(/\]\((\d{4}-[a-z0-9-]+\.md)\)/g)].map(
      (match) => match[1],
    );
    expect(listed).toEqual(
      readdirSync(join(REPOSITORY, 'docs/adr'))
        .filter((name) => name !== 'README.md')
        .sort(),
    );
  });
});
