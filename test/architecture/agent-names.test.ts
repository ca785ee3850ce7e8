import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { AGENTS } from '../../src/agents/registry.js';
import { linesMatching, sourceFiles } from './sources.js';

/** Agents and makers that the registry does not (yet) know; their names belong in src/agents all the same. */
const OTHERS = [
  'anthropic',
  'openai',
  'gemini-cli',
  'qwen',
  // Not what is declined.
  '(?<!de)cline',
  'roocode',
  'auggie',
  'crush',
  'openhands',
  'cursor-agent',
  'droid',
  'plandex',
];

/** Names that are also words we need. They are not looked for. */
const ORDINARY: Readonly<Record<string, string>> = {
  cursor: 'the cursor of a pane, and of an event stream',
  gh: "GitHub's command line, which a forge may use",
  scripted: 'our own agent; src/scripted is the program that plays it',
};

/** Files that cannot do without a name. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'src/core/errors/categories.ts': "the OpenAI column: the error types of that door's own wire format",
};

const registered = AGENTS.flatMap((agent) => [
  agent.name,
  ...agent.binaries.map((binary) => basename(binary, '.cjs')),
]);
const names = [...new Set([...registered, ...OTHERS])].filter(
  (name) => !Object.keys(ORDINARY).includes(name) && !name.startsWith('agentorchestr'),
);

/** A name of five letters or more is found inside longer words too (codexProfile); a short one only as a word (amp, not timestamp). */
const pattern = new RegExp(names.map((name) => (name.length >= 5 ? name : `\\b${name}\\b`)).join('|'), 'i');

describe('agent names', () => {
  const files = sourceFiles('src').filter(({ path }) => !path.startsWith('src/agents/'));

  it('stay inside src/agents, in comments too', () => {
    expect(
      linesMatching(
        files.filter(({ path }) => !(path in EXCEPTIONS)),
        pattern,
      ),
    ).toEqual([]);
  });

  it.each(Object.keys(EXCEPTIONS))('are really needed in the exception %s', (path) => {
    expect(
      linesMatching(
        files.filter((file) => file.path === path),
        pattern,
      ),
    ).not.toEqual([]);
  });

  it.each(['// as codex does', 'const claudeArgs = []', "if (name === 'goose')", 'amp'])(
    'are recognised in: %s',
    (text) => {
      expect(linesMatching([{ path: 'x', text }], pattern)).toHaveLength(1);
    },
  );

  it.each(['timestamp', 'the cursor', 'example'])('are not seen in: %s', (text) => {
    expect(linesMatching([{ path: 'x', text }], pattern)).toEqual([]);
  });
});
