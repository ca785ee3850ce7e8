import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { codex } from '../../../src/agents/codex.js';
import type { HeadlessLaunch, InteractiveLaunch, LaunchContext } from '../../../src/agents/contract.js';
import { hashOf } from '../../../src/platform/ids.js';

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
  hashOf,
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

  it('trusts our hooks alone, by their hash: others are never run unseen', () => {
    const argv = pane.argv(context);
    expect(argv.join(' ')).not.toContain('bypass-hook-trust');
    const hooks = argv.find((each) => each.startsWith('hooks=')) ?? '';
    const command = JSON.parse(
      /Stop=\[\{hooks=\[\{type="command",command=("(?:[^"\\]|\\.)*")/.exec(hooks)?.[1] ?? '""',
    ) as string;
    expect(command).toContain("'http://127.0.0.1:7/hooks' 'TOKEN' 'answer'");
    const identity = { event_name: 'stop', hooks: [{ async: false, command, timeout: 30, type: 'command' }] };
    const hash = createHash('sha256').update(JSON.stringify(identity)).digest('hex');
    expect(hooks).toContain(`"/<session-flags>/config.toml:stop:0:0"={trusted_hash="sha256:${hash}"}`);
    expect(hooks.match(/trusted_hash/g)).toHaveLength(4);
  });

  it('draws the screen that the rules know, whatever the person’s own looks like, in this very version', () => {
    expect(pane.argv(context)).toEqual(
      expect.arrayContaining([
        'tui.status_line=["model-with-reasoning","current-dir"]',
        'tui.vim_mode_default=false',
        'check_for_update_on_startup=false',
      ]),
    );
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
    ['look at @README.md', true],
    ['@README.md', true],
    ['use $imagegen', true],
    ['see @README.md for it', false],
    ['mail me@example.org', false],
    ['1. one\n2. two', false],
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

  it('of a helper that it started are none of the worker’s, but for what needs a person', () => {
    const helper = {
      session_id: 't',
      agent_id: 'h',
      agent_type: 'default',
      transcript_path: '/of/the/helper',
    };
    expect(facts({ ...helper, hook_event_name: 'UserPromptSubmit', prompt: 'help' })).toEqual([]);
    expect(facts({ ...helper, hook_event_name: 'Stop', last_assistant_message: 'helped' })).toEqual([]);
    expect(facts({ ...helper, hook_event_name: 'PermissionRequest', tool_name: 'Bash' })).toHaveLength(1);
    expect(pane.hooks?.threadId(helper)).toBe('t');
    expect(pane.hooks?.transcript?.(helper)).toBeNull();
  });

  it('are made up for by its rollout file', () => {
    const line = (payload: object, type = 'event_msg') => JSON.stringify({ type, payload });
    const message = (role: string, text: string) =>
      line({ type: 'message', role, content: [{ type: 'input_text', text }] }, 'response_item');
    const item = { type: 'UserMessage', content: [{ type: 'text', text: 'make it' }] };
    const facts = (text: string) => pane.transcript?.facts(text);
    expect(facts(line({ type: 'item_completed', item }))).toEqual([
      { fact: 'prompt_submitted', text: 'make it' },
    ]);
    for (const own of ['<environment_context>', '<turn_aborted>', '<subagent_notification>', '# AGENTS.md'])
      expect(facts(message('user', `${own}\n…`))).toEqual([]);
    expect(facts(line({ type: 'task_complete', last_agent_message: 'made' }))).toEqual([
      { fact: 'turn_ended', text: 'made' },
    ]);
    expect(facts(line({ type: 'turn_aborted', reason: 'interrupted' }))).toEqual([
      { fact: 'turn_ended', text: '' },
    ]);
    expect(facts('{"half')).toEqual([]);
  });

  it.each([
    ['no such model', 'other', undefined],
    ['exceeded retry limit, last status: 429 Too Many Requests', 'other', 'quota'],
    ['try again later', 'usage_limit_exceeded', 'quota'],
    ['unexpected status 401 Unauthorized: bad key', 'other', 'login'],
  ])('are made up for where a turn failed: %s (%s)', (message, info, kind) => {
    const payload = {
      type: 'task_complete',
      last_agent_message: null,
      error: { message, codex_error_info: info },
    };
    expect(pane.transcript?.facts(JSON.stringify({ type: 'event_msg', payload }))).toEqual([
      { fact: 'turn_failed', text: message, ...(kind === undefined ? {} : { kind }) },
    ]);
  });
});
