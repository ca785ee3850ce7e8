import type { HeadlessLaunch, LaunchContext } from '../contract.js';
import { codexResumeErrors, mcpOptions, ownArguments } from './options.js';

/** `codex exec`: the prompt on standard input, one JSON object a line, each item whole. Seen on 0.171.0. */
export const codexHeadless: HeadlessLaunch = {
  argv,
  format: () => 'thread-jsonl',
  // They would say what its output says already.
  hooks: null,
  transcript: null,
  mcpCallLimitMs: 110_000,
  paste: null,
  resumeErrors: codexResumeErrors,
};

function argv(context: LaunchContext): readonly string[] {
  const { binary, bypassPermissions, extra, resumeThreadId } = context;
  return [
    binary,
    ...ownArguments(extra),
    'exec',
    '--json',
    // Ours is a worktree; what the person trusts is asked by us.
    '--skip-git-repo-check',
    // It never asks here: what its sandbox does not allow is refused.
    ...(bypassPermissions
      ? ['--dangerously-bypass-approvals-and-sandbox']
      : ['--sandbox', 'workspace-write']),
    ...(extra['model'] === undefined ? [] : ['--model', extra['model']]),
    ...mcpOptions(context),
    ...(resumeThreadId === null ? [] : ['resume', resumeThreadId]),
    '-',
  ];
}
