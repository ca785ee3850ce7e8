import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { codex } from '../../../src/agents/codex.js';
import type { HeadlessLaunch, InteractiveLaunch, LaunchContext } from '../../../src/agents/contract.js';
import { parseScreen, readScreen } from '../../../src/backends/tmux/screen.js';

const pane = codex.interactive as InteractiveLaunch;
const headless = codex.headless as HeadlessLaunch;
const context: LaunchContext = {
  binary: '/opt/codex',
  role: 'worker',
  directory: '/private/w01',
  worktree: '/tree with "quotes"',
  mcpUrl: 'http://127.0.0.1:7/mcp',
  hookUrl: 'http://127.0.0.1:7/hooks',
  tokenVariable: 'TOKEN',
  bypassPermissions: true,
  isRoot: false,
  resumeThreadId: null,
  extra: {},
};

describe('the launch of Codex', () => {
  it('has our server beside the user’s, its token in the environment, and our tools without questions', () => {
    for (const argv of [pane.argv(context), headless.argv(context)]) {
      expect(argv).toContain('mcp_servers.agentorchestr.url="http://127.0.0.1:7/mcp"');
      expect(argv).toContain('mcp_servers.agentorchestr.bearer_token_env_var="TOKEN"');
      expect(argv).toContain('mcp_servers.agentorchestr.tool_timeout_sec=3600');
      expect(argv).toContain('mcp_servers.agentorchestr.default_tools_approval_mode="approve"');
    }
  });

  it('[112] skips permissions when the user did not switch that off, and asks or is fenced otherwise', () => {
    expect(pane.argv(context)).toContain('--dangerously-bypass-approvals-and-sandbox');
    expect(headless.argv(context)).toContain('--dangerously-bypass-approvals-and-sandbox');
    const careful = { ...context, bypassPermissions: false };
    expect(pane.argv(careful)).toEqual(
      expect.arrayContaining(['--sandbox', 'workspace-write', '--ask-for-approval', 'on-request']),
    );
    expect(headless.argv(careful)).toEqual(expect.arrayContaining(['--sandbox', 'workspace-write']));
    expect([...pane.argv(careful), ...headless.argv(careful)].join(' ')).not.toContain('bypass-approvals');
  });

  it('leaves nothing behind its pane, and trusts exactly the worktree, whatever its name', () => {
    const argv = pane.argv(context);
    expect(argv).toContain('--no-daemon');
    expect(argv).toContain('projects={"/tree with \\"quotes\\""={trust_level="trusted"}}');
  });

  it('goes on in its conversation', () => {
    const again = { ...context, resumeThreadId: 'thread-1' };
    expect(pane.argv(again)[1]).toBe('resume');
    expect(pane.argv(again).at(-1)).toBe('thread-1');
    expect(headless.argv(again).slice(-3)).toEqual(['resume', 'thread-1', '-']);
    expect(headless.argv(context).at(-1)).toBe('-');
  });

  it.each([
    ['/help me', true],
    ['!ls', true],
    ['  indented', true],
    ['ends in a blank ', true],
    ['a\tb', false],
    ['see src/a.ts and run it!', false],
  ])('hands %j over as a file: %s', (text, expected) => {
    expect(pane.paste?.unsafe?.test(text)).toBe(expected);
  });
});

describe('the hooks of Codex', () => {
  const facts = (body: object) => pane.hooks?.translate(body);

  it('tell of the conversation, prompts, ends of turns and permissions', () => {
    expect(facts({ hook_event_name: 'SessionStart', session_id: 't' })).toEqual([
      { fact: 'session_started', threadId: 't' },
    ]);
    expect(facts({ hook_event_name: 'UserPromptSubmit', prompt: 'a\n\tb' })).toEqual([
      { fact: 'prompt_submitted', text: 'a\n\tb' },
    ]);
    expect(facts({ hook_event_name: 'Stop', last_assistant_message: 'made' })).toEqual([
      { fact: 'turn_ended', text: 'made' },
    ]);
    expect(
      facts({ hook_event_name: 'PermissionRequest', tool_name: 'Bash', tool_input: { command: 'date' } }),
    ).toEqual([{ fact: 'permission_requested', tool: 'Bash', text: 'Bash: date' }]);
    expect(facts({ hook_event_name: 'SomethingNew' })).toEqual([]);
    expect(pane.hooks?.tellsFailures).toBe(false);
  });

  it('are made up for by its rollout file', () => {
    const line = (payload: object, type = 'response_item') => JSON.stringify({ type, payload });
    const message = (text: string) =>
      line({ type: 'message', role: 'user', content: [{ type: 'input_text', text }] });
    expect(pane.transcript?.facts(message('make it'))).toEqual([
      { fact: 'prompt_submitted', text: 'make it' },
    ]);
    expect(pane.transcript?.facts(message('<environment_context>\n…'))).toEqual([]);
    expect(
      pane.transcript?.facts(line({ type: 'task_complete', last_agent_message: 'made' }, 'event_msg')),
    ).toEqual([{ fact: 'turn_ended', text: 'made' }]);
    expect(pane.transcript?.facts('{"half')).toEqual([]);
  });
});

describe('the screen rules of Codex', () => {
  const screenOf = (name: string) => {
    const url = new URL(`../../fixtures/screens/codex/0.171.0/${name}.txt`, import.meta.url);
    return parseScreen(readFileSync(url, 'utf8').split('\n'), { row: 0, column: 0 });
  };

  it.each([
    ['idle', { state: 'idle', kind: null, composer: { text: '' } }],
    ['draft', { state: 'idle', kind: null, composer: { text: 'be slow' } }],
    ['working', { state: 'working', kind: null, composer: { text: '' } }],
    ['failed', { state: 'error', kind: null, composer: { text: '' } }],
    ['trust', { state: 'waiting', kind: 'trust', composer: null }],
  ] as const)('know "%s"', (name, expected) => {
    expect(readScreen(pane.screen, screenOf(name))).toMatchObject(expected);
  });

  it('find what can be chosen', () => {
    const screen = screenOf('trust');
    const tail = screen.rows.join('\n').trimEnd();
    const rule = pane.screen.states.find(({ when }) => when.test(tail));
    expect(rule?.dialog?.choices(screen)).toEqual([
      { number: 1, label: 'Trust and continue', selected: true },
      { number: 2, label: 'Back to Agent Command Center', selected: false },
    ]);
  });
});
