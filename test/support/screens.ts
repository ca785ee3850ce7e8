import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Screen } from '../../src/agents/contract.js';
import { parseScreen } from '../../src/backends/tmux/screen.js';

/** What a screen is read as. */
export const idle = (text = '') => ({ state: 'idle', kind: null, composer: { text } });
export const working = (text = '') => ({ state: 'working', kind: null, composer: { text } });
export const waiting = (kind: string) => ({ state: 'waiting', kind, composer: null });

/** Captures of real panes of one version of an agent, with styles. */
export function capturesOf(agent: string, version: string) {
  const folder = fileURLToPath(new URL(`../fixtures/screens/${agent}/${version}/`, import.meta.url));
  const rows = (name: string): string[] => readFileSync(`${folder}${name}.txt`, 'utf8').split('\n');
  return {
    rows,
    screen: (name: string): Screen => parseScreen(rows(name), { row: 0, column: 0 }),
    names: (): string[] =>
      readdirSync(folder)
        .map((name) => name.replace(/\.txt$/, ''))
        .sort(),
  };
}
