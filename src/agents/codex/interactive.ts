import { fileURLToPath } from 'node:url';
import type { InteractiveLaunch, LaunchContext } from '../contract.js';
import { codexHooks, codexTranscript } from './hooks.js';
import { mcpOptions } from './options.js';
import { codexScreen } from './screen.js';

const HOOK_PROGRAM = fileURLToPath(new URL('../../../bin/agentorchestr-hook.cjs', import.meta.url));
const HOOKS = ['SessionStart', 'UserPromptSubmit', 'PermissionRequest', 'Stop'];

/** Recorded from 0.171.0; facts: docs/guides/codex.md. */
export const codexInteractive: InteractiveLaunch = {
  argv,
  readyTimeoutMs: 60_000,
  screen: codexScreen,
  keys: { submit: 'Enter', interrupt: 'Escape', redrawCapMs: 1_000, submitDelayMs: 0 },
  // It would take text into a running turn, but a dialog may come up between our look and our key.
  steers: false,
  // Its composer takes what begins so for a command, and cuts blanks at both ends.
  paste: { limitBytes: 100_000, unsafe: /^[/!\s]|\s$/ },
  hooks: codexHooks,
  transcript: codexTranscript,
  mcpCallLimitMs: 110_000,
  toolsAtStart: true,
};

function argv(context: LaunchContext): readonly string[] {
  const { binary, bypassPermissions, extra, resumeThreadId, worktree } = context;
  return [
    binary,
    ...(resumeThreadId === null ? [] : ['resume']),
    // Otherwise a server of its own stays when its pane is gone.
    '--no-daemon',
    // On the main screen, so that the pane's history holds what it said.
    '--no-alt-screen',
    ...(bypassPermissions
      ? ['--dangerously-bypass-approvals-and-sandbox']
      : ['--sandbox', 'workspace-write', '--ask-for-approval', 'on-request']),
    // Our hooks, for this run only; it would ask whether to trust them, and keep the answer.
    '--dangerously-bypass-hook-trust',
    ...(extra['model'] === undefined ? [] : ['--model', extra['model']]),
    // The user trusted the project in ours; an answer to its own dialog would be written into the user's settings.
    ...option('projects', `{${JSON.stringify(worktree)}={trust_level="trusted"}}`),
    ...option('hooks', `{${HOOKS.map((event) => hook(event, context)).join(',')}}`),
    ...mcpOptions(context),
    ...(resumeThreadId === null ? [] : [resumeThreadId]),
  ];
}

function option(name: string, value: string): readonly string[] {
  return ['-c', `${name}=${value}`];
}

function hook(event: string, { hookUrl, tokenVariable }: LaunchContext): string {
  const program = [process.execPath, HOOK_PROGRAM, hookUrl, tokenVariable, 'answer'].map(quoted).join(' ');
  // A permission waits for as long as a person takes to answer.
  const timeout = event === 'PermissionRequest' ? 86_400 : 30;
  return `${event}=[{hooks=[{type="command",command=${JSON.stringify(program)},timeout=${timeout}}]}]`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
