// Refuses a release whose notes are missing: `npm version X` runs this first.
import { readFileSync } from 'node:fs';

const version = process.env.npm_new_version ?? '';
const changelog = readFileSync(new URL('../CHANGELOG.md', import.meta.url), 'utf8');
const notes = changelog.split(/^## /m).find((section) => section.startsWith(`[${version}]`));
if (notes === undefined || !/^- /m.test(notes)) {
  console.error(`error: CHANGELOG.md has no notes for ${version}`);
  console.error(`hint: move what is under [Unreleased] below a heading "## [${version}] - YYYY-MM-DD"`);
  process.exitCode = 1;
}
