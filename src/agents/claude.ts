import { join } from 'node:path';
import type { AgentAdapter, LaunchContext } from './contract.js';
import { claudeHooks } from './claude/hooks.js';
import { claudeScreen } from './claude/screen.js';
import { claudeSetUp } from './claude/set-up.js';
import { claudeTranscript } from './claude/transcript.js';
import { hookCommand } from './hook-kit.js';

const SERVER = 'agentorchestr';
const SETTINGS = 'claude-settings.json';
const MCP = 'claude-mcp.json';

const RESUME_ERRORS = {
  unknown: /No conversation found with session ID/i,
  inUse: /is already in use/i,
};

/** Recorded from Claude Code 2.1.332 (screens, hooks, transcript); facts: docs/guides/claude-code.md. */
export const claude: AgentAdapter = {
  name: 'claude',
  displayName: 'Claude Code',
  binaries: ['claude', 'claude-code'],
  kind: 'sdk',
  scores: { orchestrate: 10, implement: 10 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: [
    'CLAUDECODE',
    'CLAUDE_CODE_ENTRYPOINT',
    'CLAUDE_CODE_SSE_PORT',
    'CLAUDE_CODE_SESSION_ID',
    'CLAUDE_CODE_CHILD_SESSION',
    'CLAUDE_PROJECT_DIR',
  ],
  options: [{ name: 'model', summary: 'the model it starts with', required: false, file: false }],
  setUp: claudeSetUp,
  interactive: {
    argv,
    env,
    files,
    readyTimeoutMs: 60_000,
    screen: claudeScreen,
    keys: { submit: 'Enter', interrupt: 'Escape', redrawCapMs: 1_000, submitDelayMs: 0 },
    // It would take text into a running turn, but a dialog may come up between our look and our key.
    steers: false,
    paste: {
      limitBytes: 100_000,
      // Its composer makes four blanks of a tab, a command of what begins with `!` or `/`, a line end of a last backslash.
      unsafe: /\t|^\s*[!/]|\\\s*$/,
    },
    hooks: claudeHooks,
    transcript: claudeTranscript,
    // A call that says nothing for 120 s is moved to the background.
    mcpCallLimitMs: 110_000,
    toolsAtStart: true,
    firstPrompt: (text) => [text],
    resumeErrors: RESUME_ERRORS,
  },
  headless: {
    argv: headlessArgv,
    env,
    files,
    format: () => 'stream-json',
    hooks: claudeHooks,
    // Its output is kept by whoever started it.
    transcript: null,
    mcpCallLimitMs: 110_000,
    paste: null,
    resumeErrors: RESUME_ERRORS,
  },
};

function files(context: LaunchContext): readonly { readonly name: string; readonly content: string }[] {
  return [
    { name: SETTINGS, content: `${JSON.stringify(settings(context), null, 2)}\n` },
    { name: MCP, content: `${JSON.stringify(mcpConfig(context), null, 2)}\n` },
  ];
}

/** The prompt is on standard input. */
function headlessArgv(context: LaunchContext): readonly string[] {
  const [binary = '', ...rest] = argv(context);
  const output = ['--output-format', 'stream-json', '--verbose', '--include-partial-messages'];
  return [binary, '--print', ...output, ...rest];
}

function argv(context: LaunchContext): readonly string[] {
  const { binary, directory, role, extra, resumeThreadId } = context;
  return [
    binary,
    '--settings',
    join(directory, SETTINGS),
    '--mcp-config',
    join(directory, MCP),
    // Its own default mode asks a classifier that is not there behind every gateway.
    ...(context.bypassPermissions ? ['--dangerously-skip-permissions'] : ['--permission-mode', 'manual']),
    // A lead splits, integrates and verifies; a prompt alone does not hold it back from editing.
    ...(role === 'lead' ? ['--disallowedTools', 'Edit,Write,NotebookEdit'] : []),
    ...(extra['model'] === undefined ? [] : ['--model', extra['model']]),
    ...(resumeThreadId === null ? [] : ['--resume', resumeThreadId]),
  ];
}

function env({ bypassPermissions, isRoot }: LaunchContext): Readonly<Record<string, string>> {
  return {
    // On the main screen, so that the pane's history holds what it said.
    CLAUDE_CODE_DISABLE_ALTERNATE_SCREEN: '1',
    // No other version in the middle of a session.
    DISABLE_AUTOUPDATER: '1',
    // As root it refuses to run without permissions unless it is told that this machine is a sandbox.
    ...(bypassPermissions && isRoot ? { IS_SANDBOX: '1' } : {}),
  };
}

/** Beside the user's own servers. The header's variable is expanded by the agent; the launch script sets it. */
function mcpConfig({ mcpUrl, tokenVariable }: LaunchContext): unknown {
  const server = {
    type: 'http',
    url: mcpUrl,
    headers: { Authorization: `Bearer \${${tokenVariable}}` },
    // Otherwise the model sees a search tool instead of ours.
    alwaysLoad: true,
    // Its default aborts a call after 300 s without a word.
    timeout: 3_600_000,
  };
  return { mcpServers: { [SERVER]: server } };
}

/** For this run only, merged over the user's settings. */
function settings(context: LaunchContext): unknown {
  const { directory, hookUrl, tokenVariable, bypassPermissions } = context;
  const http = (timeoutS: number) => [
    {
      hooks: [
        {
          type: 'http',
          url: hookUrl,
          headers: { Authorization: `Bearer $${tokenVariable}` },
          allowedEnvVars: [tokenVariable],
          timeout: timeoutS,
        },
      ],
    },
  ];
  // Hooks of this event cannot be http.
  const program = hookCommand(context, { answers: false });
  const command = [{ hooks: [{ type: 'command', command: program, timeout: 10 }] }];
  return {
    permissions: {
      // Our own tools, and the texts that we hand over as files.
      allow: [`mcp__${SERVER}`, `Read(/${directory}/**)`],
    },
    // The user said yes to ours; the agent's own dialog would write that into the user's settings.
    ...(bypassPermissions ? { skipDangerousModePermissionPrompt: true } : {}),
    // Nobody reads them here, each is a call of the model, and without colours they look like a person's draft.
    promptSuggestionEnabled: false,
    hooks: {
      SessionStart: command,
      // May be held until its client has our tools.
      UserPromptSubmit: http(30),
      Stop: http(30),
      StopFailure: http(10),
      Notification: http(10),
      // Asked for as long as a person takes to answer.
      PermissionRequest: http(86_400),
      SessionEnd: http(5),
    },
  };
}
