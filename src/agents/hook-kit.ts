import { fileURLToPath } from 'node:url';
import type { HookFact, HookRules, LaunchContext } from './contract.js';

/** Posts what a command hook reads on stdin to the session: see there. */
const HOOK_PROGRAM = fileURLToPath(new URL('../../bin/agentorchestr-hook.cjs', import.meta.url));

/** The command line that runs it, for a shell. `answers`: what the session says to the hook is printed. */
export function hookCommand(
  { hookUrl, tokenVariable }: Pick<LaunchContext, 'hookUrl' | 'tokenVariable'>,
  { answers }: { readonly answers: boolean },
): string {
  const words = [process.execPath, HOOK_PROGRAM, hookUrl, tokenVariable, ...(answers ? ['answer'] : [])];
  return words.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(' ');
}

export type HookBody = Readonly<Record<string, unknown>>;

/**
 * Hooks in words that several agents share: JSON with `hook_event_name`, `session_id` and `transcript_path`, and answers
 * that keep a turn going or decide a permission. `facts`: what the bodies of this agent say.
 */
export function namedHooks(rules: {
  readonly tellsFailures: boolean;
  facts(body: HookBody): readonly HookFact[];
}): HookRules {
  return {
    tellsFailures: rules.tellsFailures,
    translate: (body) => rules.facts(asRecord(body)),
    threadId: (body) => textOf(asRecord(body)['session_id']) || null,
    // A helper of its own writes into a file of its own.
    transcript: (body) =>
      isOfHelper(asRecord(body)) ? null : textOf(asRecord(body)['transcript_path']) || null,
    continueTurn: (reason) => ({ decision: 'block', reason }),
    permissionAnswer: (allow, message) => ({
      hookSpecificOutput: {
        hookEventName: 'PermissionRequest',
        decision: allow
          ? { behavior: 'allow' }
          : { behavior: 'deny', ...(message === '' ? {} : { message }) },
      },
    }),
  };
}

/** The moments that all of them tell in the same words. */
export function commonFacts(body: HookBody): readonly HookFact[] | null {
  if (isOfHelper(body) && body['hook_event_name'] !== 'PermissionRequest') return [];
  switch (body['hook_event_name']) {
    case 'SessionStart':
      return [{ fact: 'session_started', threadId: textOf(body['session_id']) }];
    case 'UserPromptSubmit':
      return [{ fact: 'prompt_submitted', text: textOf(body['prompt']) }];
    case 'Stop':
      return [{ fact: 'turn_ended', text: textOf(body['last_assistant_message']) }];
    case 'PermissionRequest':
      return [permission(body)];
    case 'SessionEnd':
      return [{ fact: 'session_ended' }];
    default:
      return null;
  }
}

/** Said by an agent that it started by itself: prompts and turns of that are none of the worker's. */
function isOfHelper(body: HookBody): boolean {
  return textOf(body['agent_id']) !== '';
}

/** What is asked for: the command where it is one. */
export function permission(body: HookBody): HookFact {
  const tool = textOf(body['tool_name']);
  const input = asRecord(body['tool_input']);
  const command = Array.isArray(input['command']) ? input['command'].join(' ') : textOf(input['command']);
  const detail = command === '' ? JSON.stringify(input, null, 2) : command;
  return { fact: 'permission_requested', tool, text: `${tool}: ${detail}` };
}

/** A line of a transcript as an object; it may be half written. */
export function parsedLine(line: string): HookBody {
  try {
    return asRecord(JSON.parse(line));
  } catch {
    return {};
  }
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function asRecord(value: unknown): HookBody {
  return typeof value === 'object' && value !== null ? (value as HookBody) : {};
}
