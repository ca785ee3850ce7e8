import { fileURLToPath } from 'node:url';
import { join } from 'node:path';
import { WAITING_KINDS, type WaitingKind } from '../core/state/states.js';
import type {
  AgentAdapter,
  Composer,
  DialogChoice,
  HookFact,
  HookRules,
  LaunchContext,
  Screen,
  ScreenRules,
  StreamFormat,
} from './contract.js';
import { asRecord, parsedLine, textOf, type HookBody } from './hook-kit.js';

const RESUME_ERRORS = { unknown: /no conversation (found|")/i, inUse: /is already in use/ };

/**
 * The agent that ships with us: it plays a YAML script as a real terminal program and a real MCP client.
 * `extra`: `script` (path, required), `pace` (seconds per pause unit for people who watch; 0 = as fast as it can).
 */
export const scripted: AgentAdapter = {
  name: 'scripted',
  displayName: 'Scripted agent',
  // The same place seen from src/agents and from dist/main.
  binaries: [fileURLToPath(new URL('../../bin/agentorchestr-scripted.cjs', import.meta.url))],
  kind: 'cli',
  scores: { orchestrate: 5, implement: 5 },
  capabilities: { parallel: true, mcp: true },
  versionArgs: ['--version'],
  guardVariables: [],
  onlyByName: true,
  options: [
    { name: 'script', summary: 'the YAML script that it plays', required: true, file: true },
    {
      name: 'format',
      summary: 'the wire format that it speaks without a terminal (stream-json, thread-jsonl)',
      required: false,
      file: false,
    },
    { name: 'pace', summary: 'seconds per pause of the script (0: none)', required: false, file: false },
  ],
  interactive: {
    argv,
    readyTimeoutMs: 20_000,
    screen: screenRules(),
    keys: { submit: 'Enter', interrupt: 'Escape', redrawCapMs: 500, submitDelayMs: 0 },
    steers: false,
    paste: { limitBytes: 8_000_000, unsafe: null },
    hooks: hookRules(),
    transcript: { facts: transcriptFacts },
    mcpCallLimitMs: 100_000,
    toolsAtStart: false,
    firstPrompt: (text) => ['--prompt', text],
    resumeErrors: RESUME_ERRORS,
  },
  headless: {
    argv: headlessArgv,
    format,
    hooks: hookRules(),
    // Its output is kept by whoever started it.
    transcript: null,
    mcpCallLimitMs: 100_000,
    paste: null,
    resumeErrors: RESUME_ERRORS,
  },
};

function argv(context: LaunchContext): readonly string[] {
  const { script, pace } = context.extra;
  return [
    process.execPath,
    context.binary,
    ...(script === undefined ? [] : ['--script', script]),
    ...(pace === undefined ? [] : ['--pace', pace]),
    '--role',
    context.role,
    '--mcp-url',
    context.mcpUrl,
    '--hook-url',
    context.hookUrl,
    '--token-env',
    context.tokenVariable,
    '--state',
    join(context.directory, 'conversations'),
    ...(context.resumeThreadId === null ? [] : ['--resume', context.resumeThreadId]),
  ];
}

/** As real agents that speak thread-jsonl it tells no hook. */
function headlessArgv(context: LaunchContext): readonly string[] {
  const spoken = format(context);
  const [program = '', script = '', ...rest] = argv(context);
  const hookUrl = rest.indexOf('--hook-url');
  if (spoken === 'thread-jsonl') rest.splice(hookUrl, 2);
  return [program, script, '--headless', spoken, ...rest];
}

function format({ extra }: LaunchContext): StreamFormat {
  return extra['format'] === 'thread-jsonl' ? 'thread-jsonl' : 'stream-json';
}

/**
 * Each state is told by the footer, the last row drawn: nothing of the transcript or of what is typed can be below it.
 */
function screenRules(): ScreenRules {
  return {
    recordedVersion: '1',
    tailRows: 24,
    states: [
      {
        when: /\n {2}1 yes · 2 no · esc refuses\s*$/,
        means: 'waiting',
        kind: 'permission',
        dialog: { choices, by: 'digit' },
      },
      {
        when: /\n {2}1 exit · 2 trust\s*$/,
        means: 'waiting',
        kind: 'trust',
        dialog: { choices, by: 'move', consented: { to: 'trust', choice: /^Yes, I trust/ } },
      },
      { when: /\n {2}working · [^\n]*\s*$/, means: 'working' },
      { when: /\n {2}turn failed · [^\n]*\s*$/, means: 'error' },
      { when: /\n {2}ready · [^\n]*\s*$/, means: 'idle' },
    ],
    composer,
  };
}

const CHOICE = /^ ([❯ ]) (\d)\. (.+)$/;

/** The numbered rows next above the footer. */
function choices(screen: Screen): readonly DialogChoice[] {
  const rows = screen.rows.map((row) => CHOICE.exec(row));
  const last = rows.findLastIndex((match) => match !== null);
  const first = rows.slice(0, last + 1).findLastIndex((match) => match === null) + 1;
  return rows.slice(first, last + 1).flatMap((match) => {
    const [, mark, number, label = ''] = match ?? [];
    return [{ number: Number(number), label: label.trim(), selected: mark === '❯' }];
  });
}

const RULE = /^─{8,}$/;
const FOOTER = /^ {2}(ready|working|turn failed) · /;

/** The rows between the two rules above the footer; line breaks of its own wrapping are kept as they look. */
function composer(screen: Screen): Composer | null {
  const rows = screen.rows.map((row) => row.trimEnd());
  const footer = rows.findLastIndex((row) => row !== '');
  if (footer < 3 || !FOOTER.test(rows[footer] ?? '') || !RULE.test(rows[footer - 1] ?? '')) return null;
  const top = rows.slice(0, footer - 1).findLastIndex((row) => RULE.test(row));
  if (top === -1 || !(rows[top + 1] ?? '').startsWith('>')) return null;
  const lines = screen.solid.slice(top + 1, footer - 1).map((row) => row.slice(2).trimEnd());
  return { text: lines.join('\n').trim() };
}

function hookRules(): HookRules {
  return {
    tellsFailures: true,
    translate: (body) => facts(asRecord(body)),
    threadId: (body) => asRecord(body)['session_id']?.toString() ?? null,
    continueTurn: (reason) => ({ decision: 'block', reason }),
    permissionAnswer: (allow, message) => ({ permission: allow ? 'allow' : 'deny', message }),
    transcript: (body) => asRecord(body)['transcript_path']?.toString() ?? null,
  };
}

function facts(body: HookBody): readonly HookFact[] {
  const text = (key: string) => textOf(body[key]);
  switch (body['hook_event_name']) {
    case 'SessionStart':
      return [{ fact: 'session_started', threadId: text('session_id') }];
    case 'UserPromptSubmit':
      return [{ fact: 'prompt_submitted', text: text('prompt') }];
    case 'Stop':
      return [{ fact: 'turn_ended', text: text('last_assistant_message') }];
    case 'StopFailure':
      return [{ fact: 'turn_failed', text: text('message') }];
    case 'PermissionRequest':
      return [{ fact: 'permission_requested', tool: text('tool_name'), text: text('message') }];
    case 'Notification':
      return [{ fact: 'waiting', kind: waitingKind(body['kind']), text: text('message') }];
    case 'SessionEnd':
      return [{ fact: 'session_ended' }];
    default:
      return [];
  }
}

/** The lines of src/scripted/transcript.ts. */
function transcriptFacts(line: string): readonly HookFact[] {
  const { type, message } = parsedLine(line);
  const { content } = asRecord(message);
  if (type === 'user' && typeof content === 'string') return [{ fact: 'prompt_submitted', text: content }];
  if (type === 'failure') return [{ fact: 'turn_failed', text: String(message) }];
  if (type !== 'assistant' || !Array.isArray(content)) return [];
  const texts = content.map((part: unknown) => asRecord(part)['text']);
  return [{ fact: 'turn_ended', text: texts.filter((text) => typeof text === 'string').join('\n') }];
}

function waitingKind(value: unknown): WaitingKind {
  return WAITING_KINDS.find((kind) => kind === value) ?? 'dialog';
}
