import { expect, it } from 'vitest';
import { linesMatching, sourceFiles } from './sources.js';

/** As it is from src/<folder>/<file>.ts, so it is from dist/main/<file>.js; programs of ours are beside src/main. */
const FROM = [
  { place: /^src\/main\/[^/]+$/, target: /^(?:[.][.]\/){2}(?:bin|templates|package)|^[.]\/[\w-]+[.]js$/ },
  { place: /^src\/[^/]+\/[^/]+$/, target: /^(?:[.][.]\/){2}(?:bin|templates|package)/ },
];

it('files of the package are looked for where they are, from src and from dist', () => {
  const lines = linesMatching(sourceFiles('src'), /import[.]meta/).filter(
    // Packages are found from anywhere.
    (line) => !line.includes('createRequire('),
  );
  expect(lines.length).toBeGreaterThan(5);
  const lost = lines.filter((line) => {
    const [path = ''] = line.split(':');
    const target = /new URL\('([^']+)', import[.]meta[.]url\)/.exec(line)?.[1] ?? '';
    return !FROM.some((rule) => rule.place.test(path) && rule.target.test(target));
  });
  expect(lost).toEqual([]);
});
