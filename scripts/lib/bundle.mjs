import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What a launcher, another process of ours or a test starts from; their names in dist/main stay. */
const ENTRIES = [
  'agentctl',
  'agentd',
  'agentd-detached',
  'cli',
  'scripted',
  'start-supervisor',
  'supervisor',
];

/** One file without parts, and CommonJS, which loads faster: for what is asked so often that it must cost nothing. */
const QUICK = ['sessions-list'];

/**
 * Compiles src and the packages it uses into few files, `target`/main/*.js, without looking at types; what is in `target`
 * already goes. Loading a file costs more than reading it: 500 modules are half of what a short command takes. Packages
 * that users install (`dependencies`) stay outside; the others come with their licences (`target`/licenses.txt). One
 * folder, since modules look for the package's other files at `../../` of their own place. Throws on whatever the
 * compiler says.
 */
export async function bundle(target) {
  await rm(target, { recursive: true, force: true });
  const modules = [
    ...(await compile(target, ENTRIES, { format: 'esm', chunkFileNames: '[name]-[hash].js' })),
    ...(await compile(target, QUICK, { format: 'cjs', entryFileNames: '[name].cjs' })),
  ];
  await writeFile(join(target, 'licenses.txt'), licenses(modules));
}

/** Returns the files that went into it. */
async function compile(target, names, output) {
  const said = [];
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(names.map((name) => [name, join(root, `src/main/${name}.ts`)])),
    platform: 'node',
    external: outside(),
    onLog: (level, log) => level !== 'debug' && said.push(log.message),
  });
  const written = await build.write({ dir: join(target, 'main'), entryFileNames: '[name].js', ...output });
  await build.close();
  if (said.length > 0) throw new Error(`the bundler says:\n${said.join('\n')}`);
  return written.output.flatMap(({ moduleIds = [] }) => moduleIds);
}

function outside() {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  return new RegExp(`^(node:|(${Object.keys(dependencies).join('|')})(/|$))`);
}

/** Of every package of which something is in the bundle. */
function licenses(modules) {
  const folders = new Set(modules.map(packageOf).filter((folder) => folder !== null));
  const texts = [...folders]
    .sort((a, b) => a.localeCompare(b, 'en'))
    .map((folder) => {
      const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry));
      const text =
        file === undefined ? `License: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
      return `${name} ${version}\n\n${text}\n`;
    });
  return `Parts of these packages are in the files of this folder.\n\n${texts.join('\n---\n\n')}`;
}

function packageOf(module) {
  const inside = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(module);
  if (inside === null) return null;
  return existsSync(join(inside[1], 'package.json')) ? inside[1] : packageOf(dirname(inside[1]));
}
