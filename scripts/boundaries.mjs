// Checks the import rules of .dependency-cruiser.cjs over src (or over DIR/src, for the test that plants violations).
// Usage: node scripts/boundaries.mjs [DIR] [--least N]
import { cruise } from 'dependency-cruiser';
import extractConfig from 'dependency-cruiser/config-utl/extract-depcruise-config';
import extractTSConfig from 'dependency-cruiser/config-utl/extract-ts-config';
import { fileURLToPath } from 'node:url';
import { resolve } from 'node:path';
import { parseArgs } from 'node:util';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values, positionals } = parseArgs({
  allowPositionals: true,
  // With a TypeScript it cannot load, dependency-cruiser sees no .ts file and reports success.
  options: { least: { type: 'string', default: '50' } },
});

const config = await extractConfig(resolve(root, '.dependency-cruiser.cjs'));
const result = await cruise(
  ['src'],
  {
    ...config.options,
    ruleSet: { forbidden: config.forbidden },
    validate: true,
    baseDir: resolve(root, positionals[0] ?? '.'),
  },
  config.options.enhancedResolveOptions,
  { tsConfig: extractTSConfig(resolve(root, 'tsconfig.json')) },
);

const { summary, modules } = result.output;
const ours = modules.filter((module) => module.source.startsWith('src/')).length;
const lines = summary.violations.map(
  (v) => `${v.rule.name}: ${v.from}${v.to === v.from ? '' : ` → ${v.to}`}`,
);
for (const line of lines) console.log(line);
const tooFew = ours < Number(values.least);
if (tooFew)
  console.log(
    `only ${ours} modules of src were seen, at least ${values.least} expected: is TypeScript 6 installed?`,
  );
if (lines.length === 0 && !tooFew)
  console.log(`${ours} modules, ${summary.totalDependenciesCruised} dependencies, no violation`);
process.exitCode = lines.length > 0 || tooFew ? 1 : 0;
