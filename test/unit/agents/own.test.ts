import { describe, expect, it } from 'vitest';
import type { AgentAdapter, LaunchContext } from '../../../src/agents/contract.js';
import { withOwnAgents } from '../../../src/agents/own/adapter.js';
import { ownAgentsSchema } from '../../../src/agents/own/schema.js';
import { AGENTS, findAgent, guardVariables } from '../../../src/agents/registry.js';
import { validated } from '../../../src/config/problem.js';
import { parseToml } from '../../../src/config/toml-file.js';

const agentsOf = (text: string): readonly AgentAdapter[] =>
  withOwnAgents(AGENTS, validated(parseToml('agents.toml', text), ownAgentsSchema).agents);

const context: LaunchContext = {
  binary: '/bin/house',
  role: 'worker',
  directory: '/private/w01',
  worktree: '/tree',
  mcpUrl: 'http://127.0.0.1:1/mcp',
  hookUrl: 'http://127.0.0.1:1/hooks',
  tokenVariable: 'TOKEN',
  bypassPermissions: true,
  isRoot: false,
  hashOf: () => '',
  resumeThreadId: null,
  extra: {},
};

describe('an own agent', () => {
  it('is what its file says, and modest about the rest', () => {
    const house = findAgent('house', agentsOf('[agents.house]\n'));
    expect(house).toMatchObject({
      ...{ name: 'house', displayName: 'house', binaries: ['house'], versionArgs: ['--version'] },
      ...{ scores: { orchestrate: 0, implement: 5 }, capabilities: { parallel: true, mcp: false } },
      ...{ interactive: null, headless: null },
    });
  });

  it('has its argv, files and variables filled with what is known at its start', () => {
    const house = findAgent(
      'house',
      agentsOf(`[agents.house]
args = ["--last"]
env = { MCP = "{mcp_url}", TREE = "{worktree}" }
guard_variables = ["HOUSE_INSIDE"]
options.model = { summary = "its model", args = ["--model", "{value}"] }
[agents.house.turn]
argv = ["{binary}", "--role={role}", "--config", "{directory}/mcp.json", '{"kept": {"as": "it is"}}']
bypass_args = ["--yolo"]
default_args = ["--ask"]
files."mcp.json" = '{"url":"{mcp_url}","auth":"Bearer \${{token_variable}}"}'
`),
    );
    const launch = house.headless;
    const begin = [
      '/bin/house',
      '--role=worker',
      '--config',
      '/private/w01/mcp.json',
      '{"kept": {"as": "it is"}}',
    ];
    expect(launch?.argv(context)).toEqual([...begin, '--yolo', '--last']);
    expect(launch?.argv({ ...context, bypassPermissions: false, extra: { model: '{role}' } })).toEqual([
      ...begin,
      ...['--ask', '--model', '{role}', '--last'],
    ]);
    expect(launch?.env?.(context)).toEqual({ MCP: 'http://127.0.0.1:1/mcp', TREE: '/tree' });
    expect(launch?.files?.(context)).toEqual([
      { name: 'mcp.json', content: '{"url":"http://127.0.0.1:1/mcp","auth":"Bearer ${TOKEN}"}' },
    ]);
    expect(launch?.format(context)).toBe('plain');
    expect(house.options).toEqual([{ name: 'model', summary: 'its model', required: false, file: false }]);
    expect(guardVariables([house])).toEqual(['HOUSE_INSIDE']);
  });

  it('of a known name changes what it says and nothing else', () => {
    const known = findAgent('codex');
    const changed = findAgent(
      'codex',
      agentsOf(
        '[agents.codex]\nbinaries = ["/opt/codex"]\norchestrate = 10\npermissions = "default"\nargs = ["--more"]\n',
      ),
    );
    expect(changed).toMatchObject({
      binaries: ['/opt/codex'],
      versionArgs: known.versionArgs,
      scores: { orchestrate: 10, implement: known.scores.implement },
    });
    expect(changed.interactive?.screen).toBe(known.interactive?.screen);
    expect(changed.interactive?.argv(context)).toEqual([
      ...(known.interactive?.argv({ ...context, bypassPermissions: false }) ?? []),
      '--more',
    ]);
    expect(agentsOf('[agents.codex]\n').map(({ name }) => name)).toEqual(AGENTS.map(({ name }) => name));
  });
});

describe('a mistake in agents.toml', () => {
  it.each([
    ['[agent.house]\n', '1: unknown key "agent"', 'did you mean agents?'],
    ['[agents.House]\n', '1: "agents.House": not a name', 'docs/guides'],
    ['[agents.house]\nbinarys = ["x"]\n', '2: unknown key "agents.house.binarys"', 'did you mean binaries?'],
    ['[agents.house]\norchestrate = 11\n', '2: "agents.house.orchestrate": Too big', 'docs/guides'],
    [
      '[agents.house]\npermissions = "none"\n',
      '2: "agents.house.permissions": Invalid option',
      'docs/guides',
    ],
    [
      '[agents.house.turn]\nargv = ["{binry}"]\n',
      '2: "agents.house.turn.argv.0": unknown placeholder {binry}: did you mean {binary}?',
      'docs/guides',
    ],
    [
      '[agents.house.turn]\nargv = ["x"]\nformat = "xml"\n',
      '3: "agents.house.turn.format": Invalid option',
      'docs/guides',
    ],
    [
      '[agents.house.turn]\nargv = ["x"]\nfiles = { "../x" = "" }\n',
      '3: "agents.house.turn.files',
      'docs/guides',
    ],
    ['[agents.house.pane]\nargv = ["x"]\n', '1: "agents.house.pane.screen"', 'docs/guides'],
    [
      '[agents.house.pane]\nargv = ["x"]\n[agents.house.pane.screen]\ncomposer = { prompt = ">", end = "-" }\n[[agents.house.pane.screen.states]]\nwhen = "ok"\nmeans = "idle"\n[[agents.house.pane.screen.states]]\nwhen = "("\nmeans = "idle"\n',
      '9: "agents.house.pane.screen.states.1.when": Invalid regular expression',
      'docs/guides',
    ],
    ['[agents.house]\nenv = { "A-B" = "1" }\n', '2: "agents.house.env', 'docs/guides'],
  ])('%j', (text, problem, hint) => {
    expect(() => agentsOf(text)).toThrow(problem);
    expect(() => agentsOf(text)).toThrow(
      expect.objectContaining({ hint: expect.stringContaining(hint) as unknown }),
    );
  });
});
