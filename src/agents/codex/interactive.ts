import type { InteractiveLaunch, LaunchContext } from '../contract.js';
import { hookOptions } from './hook-options.js';
import { codexHooks, codexTranscript } from './hooks.js';
import { codexResumeErrors, mcpOptions, option, ownArguments } from './options.js';
import { codexScreen } from './screen.js';

/** Recorded from 0.171.0; facts: docs/guides/codex.md. */
export const codexInteractive: InteractiveLaunch = {
  argv,
  readyTimeoutMs: 60_000,
  screen: codexScreen,
  keys: { submit: 'Enter', interrupt: 'Escape', redrawCapMs: 1_000, submitDelayMs: 0 },
  // It would take text into a running turn, but a dialog may come up between our look and our key.
  steers: false,
  // Its composer takes what begins so for a command, cuts blanks at both ends, and makes something else of a last word
  // that looks like a file or a skill.
  paste: { limitBytes: 100_000, unsafe: /^[/!\s]|\s$|(^|\s)[@$]\S*$/ },
  hooks: codexHooks,
  transcript: codexTranscript,
  mcpCallLimitMs: 110_000,
  toolsAtStart: true,
  firstPrompt: (text) => ['--', text],
  resumeErrors: codexResumeErrors,
};

function argv(context: LaunchContext): readonly string[] {
  const { binary, bypassPermissions, extra, resumeThreadId, worktree } = context;
  return [
    binary,
    ...ownArguments(extra),
    ...(resumeThreadId === null ? [] : ['resume']),
    // Otherwise a server of its own stays when its pane is gone.
    '--no-daemon',
    // On the main screen, so that the pane's history holds what it said.
    '--no-alt-screen',
    ...(bypassPermissions
      ? ['--dangerously-bypass-approvals-and-sandbox']
      : ['--sandbox', 'workspace-write', '--ask-for-approval', 'on-request']),
    ...(extra['model'] === undefined ? [] : ['--model', extra['model']]),
    // The user trusted the project in ours; an answer to its own dialog would be written into the user's settings.
    ...option('projects', `{${JSON.stringify(worktree)}={trust_level="trusted"}}`),
    ...hookOptions(context),
    // The screen as the rules know it, whatever the person's own looks like; no other version in the middle of a session.
    ...option('tui.status_line', '["model-with-reasoning","current-dir"]'),
    ...option('tui.vim_mode_default', 'false'),
    ...option('check_for_update_on_startup', 'false'),
    ...mcpOptions(context),
    ...(resumeThreadId === null ? [] : [resumeThreadId]),
  ];
}
