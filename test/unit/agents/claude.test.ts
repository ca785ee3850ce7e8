import { describe, expect, it } from 'vitest';
import type { InteractiveLaunch, LaunchContext } from '../../../src/agents/contract.js';
import { claude } from '../../../src/agents/claude.js';
import { hashOf } from '../../../src/platform/ids.js';

const launch = claude.interactive as InteractiveLaunch;
const context: LaunchContext = {
  binary: '/opt/claude',
  role: 'worker',
  directory: '/private/w01',
  worktree: '/tree',
  mcpUrl: 'http://127.0.0.1:7/mcp',
  hookUrl: 'http://127.0.0.1:7/hooks',
  tokenVariable: 'TOKEN',
  bypassPermissions: true,
  isRoot: false,
  hashOf,
  resumeThreadId: null,
  extra: {},
};
const file = (changes: Partial<LaunchContext>, name: RegExp) =>
  JSON.parse(
    launch.files?.({ ...context, ...changes }).find((each) => name.test(each.name))?.content ?? '{}',
  ) as Record<string, never>;

describe('the launch of Claude Code', () => {
  it('[112] skips permissions when the user did not switch that off, and asks otherwise', () => {
    expect(launch.argv(context)).toEqual([
      '/opt/claude',
      ...['--settings', '/private/w01/claude-settings.json'],
      ...['--mcp-config', '/private/w01/claude-mcp.json'],
      '--dangerously-skip-permissions',
    ]);
    const asking = launch.argv({ ...context, bypassPermissions: false });
    expect(asking.slice(-2)).toEqual(['--permission-mode', 'manual']);
    expect(asking).not.toContain('--dangerously-skip-permissions');
  });

  it('takes the editing tools from a lead, and goes on with a conversation by its id', () => {
    const lead = launch.argv({ ...context, role: 'lead', resumeThreadId: 'id-1', extra: { model: 'opus' } });
    expect(lead.slice(-6)).toEqual([
      ...['--disallowedTools', 'Edit,Write,NotebookEdit'],
      ...['--model', 'opus', '--resume', 'id-1'],
    ]);
  });

  it('calls the machine a sandbox only for root without permissions', () => {
    const sandbox = (changes: Partial<LaunchContext>) =>
      launch.env?.({ ...context, ...changes })['IS_SANDBOX'];
    expect(sandbox({ isRoot: true })).toBe('1');
    expect(sandbox({ isRoot: false })).toBeUndefined();
    expect(sandbox({ isRoot: true, bypassPermissions: false })).toBeUndefined();
  });

  it('attaches our server beside the user’s own ones, with a token that only the environment holds', () => {
    expect(file({}, /mcp/)).toEqual({
      mcpServers: {
        agentorchestr: {
          type: 'http',
          url: context.mcpUrl,
          headers: { Authorization: 'Bearer ${TOKEN}' },
          alwaysLoad: true,
          timeout: 3_600_000,
        },
      },
    });
    expect(launch.argv(context)).not.toContain('--strict-mcp-config');
  });

  it('asks for its hooks for this run only, in a private file', () => {
    const settings = file({ directory: "/it's here" }, /settings/) as Record<string, Record<string, unknown>>;
    expect(settings['permissions']).toEqual({ allow: ['mcp__agentorchestr', "Read(//it's here/**)"] });
    expect(settings['skipDangerousModePermissionPrompt']).toBe(true);
    expect(Object.keys(settings['hooks'] ?? {})).toEqual([
      'SessionStart',
      'UserPromptSubmit',
      'Stop',
      'StopFailure',
      'Notification',
      'PermissionRequest',
      'SessionEnd',
    ]);
    expect(settings['hooks']?.['Stop']).toEqual([
      {
        hooks: [
          {
            type: 'http',
            url: context.hookUrl,
            headers: { Authorization: 'Bearer $TOKEN' },
            allowedEnvVars: ['TOKEN'],
            timeout: 30,
          },
        ],
      },
    ]);
    expect(file({ bypassPermissions: false }, /settings/)).not.toHaveProperty(
      'skipDangerousModePermissionPrompt',
    );
  });

  it.each([
    ['a\tb', true],
    ['/help me', true],
    ['  !ls', true],
    ['C:\\', true],
    ['see src/a.ts and run it!', false],
    ['@a # - ; $(x)', false],
  ])('hands %j over as a file: %s', (text, expected) => {
    expect(launch.paste?.unsafe?.test(text)).toBe(expected);
  });
});

describe('the hooks of Claude Code', () => {
  const facts = (body: object) => launch.hooks?.translate(body);
  const body = (hook_event_name: string, more: object = {}) => ({
    session_id: 'id-1',
    transcript_path: '/t.jsonl',
    hook_event_name,
    ...more,
  });

  it('name the conversation and its file', () => {
    expect(launch.hooks?.threadId(body('Stop'))).toBe('id-1');
    expect(launch.hooks?.transcript?.(body('Stop'))).toBe('/t.jsonl');
    expect(launch.hooks?.threadId(null)).toBe(null);
  });

  it.each<[string, object, readonly object[]]>([
    ['a start', body('SessionStart'), [{ fact: 'session_started', threadId: 'id-1' }]],
    [
      'a prompt',
      body('UserPromptSubmit', { prompt: 'do it' }),
      [{ fact: 'prompt_submitted', text: 'do it' }],
    ],
    [
      'a large paste, without the wrapper it gets',
      body('UserPromptSubmit', {
        prompt: '\n\n<pasted_content id="81e8">\nline 1\n\nline 3\n</pasted_content id="81e8">\n',
      }),
      [{ fact: 'prompt_submitted', text: 'line 1\n\nline 3' }],
    ],
    [
      'an end',
      body('Stop', { last_assistant_message: 'bye', background_tasks: [] }),
      [{ fact: 'turn_ended', text: 'bye', goesOn: false }],
    ],
    [
      'an end with a command still running',
      body('Stop', { last_assistant_message: 'wait', background_tasks: [{ status: 'running' }] }),
      [{ fact: 'turn_ended', text: 'wait', goesOn: true }],
    ],
    [
      'a failure',
      body('StopFailure', { error: 'unknown', last_assistant_message: 'API Error: 400' }),
      [{ fact: 'turn_failed', text: 'API Error: 400' }],
    ],
    [
      'a used up quota',
      body('StopFailure', { error: 'rate_limit', last_assistant_message: 'limit' }),
      [{ fact: 'turn_failed', text: 'limit', kind: 'quota' }],
    ],
    [
      'a permission',
      body('PermissionRequest', { tool_name: 'Bash', tool_input: { command: 'rm x', description: 'd' } }),
      [{ fact: 'permission_requested', tool: 'Bash', text: 'Bash: rm x' }],
    ],
    [
      'a question of its own',
      body('PermissionRequest', {
        tool_name: 'AskUserQuestion',
        tool_input: { questions: [{ question: 'Which color?' }] },
      }),
      [{ fact: 'waiting', kind: 'question', text: 'Which color?' }],
    ],
    ['a reminder that it waits', body('Notification', { notification_type: 'idle_prompt' }), []],
    ['anything else', body('PreToolUse'), []],
  ])('tell of %s', (_what, given, expected) => {
    expect(facts(given)).toEqual(expected);
  });

  it('decide a permission', () => {
    const decision = (allow: boolean, message: string) =>
      launch.hooks?.permissionAnswer?.(allow, message) as { hookSpecificOutput: { decision: unknown } };
    expect(decision(true, '').hookSpecificOutput).toEqual({
      hookEventName: 'PermissionRequest',
      decision: { behavior: 'allow' },
    });
    expect(decision(false, 'use touch').hookSpecificOutput.decision).toEqual({
      behavior: 'deny',
      message: 'use touch',
    });
  });
});

describe('the transcript of Claude Code', () => {
  const facts = (line: object | string) =>
    launch.transcript?.facts(typeof line === 'string' ? line : JSON.stringify(line));
  const user = (content: unknown) => ({ type: 'user', message: { role: 'user', content } });
  const assistant = (stop_reason: string, ...content: object[]) => ({
    type: 'assistant',
    message: { role: 'assistant', stop_reason, content },
  });

  it.each<[string, object | string, readonly object[]]>([
    ['a prompt', user('do it'), [{ fact: 'prompt_submitted', text: 'do it' }]],
    [
      'a prompt while it works',
      { type: 'queue-operation', operation: 'enqueue', content: 'more' },
      [{ fact: 'prompt_submitted', text: 'more' }],
    ],
    ['an end', assistant('end_turn', { type: 'text', text: 'bye' }), [{ fact: 'turn_ended', text: 'bye' }]],
    [
      'a failure',
      { ...assistant('stop_sequence', { type: 'text', text: 'API Error' }), isApiErrorMessage: true },
      [{ fact: 'turn_failed', text: 'API Error' }],
    ],
    ['no prompt in a tool result', user([{ type: 'tool_result', content: 'x' }]), []],
    ['no prompt in an interruption', user([{ type: 'text', text: '[Request interrupted by user]' }]), []],
    ['no end in a tool call', assistant('tool_use', { type: 'text', text: 'I will' }), []],
    ['no end in thoughts', assistant('end_turn', { type: 'thinking', thinking: 'hm' }), []],
    ['nothing of a sub-agent', { ...user('sub task'), isSidechain: true }, []],
    ['nothing of half a line', '{"type":"us', []],
  ])('tells of %s', (_what, line, expected) => {
    expect(facts(line)).toEqual(expected);
  });
});
