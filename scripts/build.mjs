// Compiles src to dist, or to the folder that is named. Types are looked at by `npm run check`.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './lib/bundle.mjs';

const [target = fileURLToPath(new URL('../dist', import.meta.url))] = process.argv.slice(2);
await bundle(resolve(target));
