import { existsSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { scripted } from '../../../src/agents/scripted.js';
import type { InteractiveLaunch, LaunchContext, Screen } from '../../../src/agents/contract.js';
import { hashOf } from '../../../src/platform/ids.js';

const launch = scripted.interactive as InteractiveLaunch;
const hooks = launch.hooks as NonNullable<InteractiveLaunch['hooks']>;

const context: LaunchContext = {
  binary: '/opt/bin/agentorchestr-scripted.cjs',
  role: 'worker',
  directory: '/state/w01',
  worktree: '/trees/w01',
  mcpUrl: 'http://127.0.0.1:1/mcp',
  hookUrl: 'http://127.0.0.1:1/hook',
  tokenVariable: 'AGENTORCHESTR_TOKEN',
  bypassPermissions: true,
  isRoot: false,
  hashOf,
  resumeThreadId: null,
  extra: { script: '/scripts/demo.yaml' },
};

describe('the adapter of the scripted agent', () => {
  it('names the launcher that ships with the package', () => {
    expect(scripted.binaries).toHaveLength(1);
    expect(existsSync(scripted.binaries[0] ?? '')).toBe(true);
  });

  it('starts it with the script, the role, both addresses and the name of the token variable', () => {
    expect(launch.argv(context)).toEqual([
      process.execPath,
      '/opt/bin/agentorchestr-scripted.cjs',
      ...['--script', '/scripts/demo.yaml'],
      ...['--role', 'worker'],
      ...['--mcp-url', 'http://127.0.0.1:1/mcp'],
      ...['--hook-url', 'http://127.0.0.1:1/hook'],
      ...['--token-env', 'AGENTORCHESTR_TOKEN'],
      ...['--state', '/state/w01/conversations'],
    ]);
  });

  it('resumes by the conversation id and passes the pace on', () => {
    const argv = launch.argv({
      ...context,
      resumeThreadId: 'thread-1',
      extra: { ...context.extra, pace: '2' },
    });
    expect(argv.join(' ')).toMatch(/ --pace 2 .* --resume thread-1$/);
  });

  it.each([
    [{ hook_event_name: 'SessionStart', session_id: 't' }, [{ fact: 'session_started', threadId: 't' }]],
    [{ hook_event_name: 'UserPromptSubmit', prompt: 'go' }, [{ fact: 'prompt_submitted', text: 'go' }]],
    [{ hook_event_name: 'Stop', last_assistant_message: 'done' }, [{ fact: 'turn_ended', text: 'done' }]],
    [{ hook_event_name: 'StopFailure', message: 'no' }, [{ fact: 'turn_failed', text: 'no' }]],
    [
      { hook_event_name: 'PermissionRequest', tool_name: 'Bash', message: 'rm' },
      [{ fact: 'permission_requested', tool: 'Bash', text: 'rm' }],
    ],
    [
      { hook_event_name: 'Notification', kind: 'quota', message: 'q' },
      [{ fact: 'waiting', kind: 'quota', text: 'q' }],
    ],
    [{ hook_event_name: 'Notification', kind: 'odd' }, [{ fact: 'waiting', kind: 'dialog', text: '' }]],
    [{ hook_event_name: 'SessionEnd' }, [{ fact: 'session_ended' }]],
    [{ hook_event_name: 'Unheard' }, []],
    [null, []],
    ['text', []],
  ])('translates the hook body %j', (body, facts) => {
    expect(hooks.translate(body)).toEqual(facts);
  });

  it('reads the conversation id of any hook body', () => {
    expect(hooks.threadId({ hook_event_name: 'Stop', session_id: 'abc' })).toBe('abc');
    expect(hooks.threadId({})).toBeNull();
    expect(hooks.threadId(null)).toBeNull();
  });

  it('asks for one more turn by a block decision', () => {
    expect(hooks.continueTurn('report now')).toEqual({ decision: 'block', reason: 'report now' });
  });
});

describe('the input box of the scripted agent', () => {
  it('is not seen where the transcript only looks like one', () => {
    const rows = ['● ────────────', '> typed long ago', '────────────', 'and more text'];
    expect(launch.screen.composer(screen(rows))).toBeNull();
  });

  it('is not seen on an empty screen', () => {
    expect(launch.screen.composer(screen(['', '', '']))).toBeNull();
  });

  it('keeps a rule that was typed into it', () => {
    const rule = '─'.repeat(12);
    const rows = ['text', rule, '> above', `  ${rule}`, '  below', rule, '  ready · worker · x', '', ''];
    expect(launch.screen.composer(screen(rows))).toEqual({ text: `above\n${rule}\nbelow` });
  });
});

function screen(rows: readonly string[]): Screen {
  return { rows, solid: rows, cursor: { row: 0, column: 0 } };
}
