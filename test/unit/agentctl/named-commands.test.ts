import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { commandOf, isNamed } from '../../../src/doors/agentctl/commands.js';
import { DAEMON_COMMANDS } from '../../../src/doors/agentctl/daemon.js';
import { RULES } from '../../../src/services/gateway/diagnose/likely-issue.js';
import { GATEWAY_OPERATIONS } from '../../../src/services/gateway/operations/index.js';

const KNOWN = [
  ...GATEWAY_OPERATIONS.map((operation) => commandOf(operation)),
  ...DAEMON_COMMANDS.map(({ name }) => ({ names: [name] })),
  { names: ['events tail'] },
];
const GROUPS = [...new Set(KNOWN.flatMap(({ names }) => names.map((name) => name.split(' ')[0])))].join('|');
const read = (path: string) => readFileSync(new URL(`../../../${path}`, import.meta.url), 'utf8');

/** What a text tells to type, without global flags. */
function commandsIn(text: string): string[] {
  const told = new RegExp(
    `(?:agentctl|"\\$AGENTCTL"|agentorchestr gateway)(?: --[\\w-]+ \\S+)* ((?:${GROUPS})s? [a-z-]+)`,
    'g',
  );
  return [...text.matchAll(told)].map(([, command = '']) => command);
}

it.each([
  ['what diagnose suggests', RULES.flatMap(({ suggestions }) => suggestions).join('\n'), 8],
  ['the guide', read('docs/guides/gateway.md'), 6],
  ['the guide for operators', read('docs/guides/running-the-gateway.md'), 12],
  ['the skill', read('skills/agentctl/SKILL.md'), 12],
  ['the readme', read('README.md'), 1],
])('%s names only commands that there are', (_what, text, least) => {
  const told = commandsIn(text);
  expect(told.length).toBeGreaterThanOrEqual(least);
  expect(told.filter((command) => !KNOWN.some((known) => isNamed(known, command)))).toEqual([]);
});
