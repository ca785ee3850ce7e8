import { readFileSync } from 'node:fs';

interface Manifest {
  readonly version: string;
  readonly engines: { readonly node: string };
}

/** The package's own. The same place seen from src/main and from dist/main. */
function manifest(): Manifest {
  return JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest;
}

export function packageVersion(): string {
  return manifest().version;
}

/** Which Nodes it runs on, as a range. */
export function supportedNode(): string {
  return manifest().engines.node;
}
