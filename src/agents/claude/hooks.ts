import type { WaitingKind } from '../../core/state/states.js';
import type { HookFact, HookRules } from '../contract.js';
import { unwrapped } from './wrapper.js';

/** Bodies of its hooks: https://code.claude.com/docs/en/hooks, and seen on 2.1.332. */
export const claudeHooks: HookRules = {
  tellsFailures: true,
  translate: (body) => facts(asRecord(body)),
  threadId: (body) => textOf(asRecord(body)['session_id']) || null,
  transcript: (body) => textOf(asRecord(body)['transcript_path']) || null,
  continueTurn: (reason) => ({ decision: 'block', reason }),
  permissionAnswer: (allow, message) => ({
    hookSpecificOutput: {
      hookEventName: 'PermissionRequest',
      decision: allow ? { behavior: 'allow' } : { behavior: 'deny', ...(message === '' ? {} : { message }) },
    },
  }),
};

type Body = Record<string, unknown>;

function facts(body: Body): readonly HookFact[] {
  switch (body['hook_event_name']) {
    case 'SessionStart':
      return [{ fact: 'session_started', threadId: textOf(body['session_id']) }];
    case 'UserPromptSubmit':
      return [{ fact: 'prompt_submitted', text: unwrapped(textOf(body['prompt'])) }];
    case 'Stop':
      return [
        { fact: 'turn_ended', text: textOf(body['last_assistant_message']), goesOn: hasBackgroundWork(body) },
      ];
    case 'StopFailure':
      return failure(body);
    case 'PermissionRequest':
      return [permission(body)];
    case 'Notification':
      return body['notification_type'] === 'elicitation_dialog'
        ? [{ fact: 'waiting', kind: 'dialog', text: textOf(body['message']) }]
        : [];
    case 'SessionEnd':
      return [{ fact: 'session_ended' }];
    default:
      return [];
  }
}

/** A command or agent of its own that still runs will wake it with its result. */
function hasBackgroundWork(body: Body): boolean {
  const tasks = body['background_tasks'];
  return Array.isArray(tasks) && tasks.some((task) => asRecord(task)['status'] === 'running');
}

const NEEDS_PERSON: Readonly<Record<string, WaitingKind>> = {
  rate_limit: 'quota',
  billing_error: 'quota',
  authentication_failed: 'login',
  oauth_org_not_allowed: 'login',
};

function failure(body: Body): readonly HookFact[] {
  const text = textOf(body['last_assistant_message']);
  const kind = NEEDS_PERSON[textOf(body['error'])];
  return [{ fact: 'turn_failed', text, ...(kind === undefined ? {} : { kind }) }];
}

/** Its own questions come through the same hook; an answer by yes or no would not answer them. */
function permission(body: Body): HookFact {
  const tool = textOf(body['tool_name']);
  const input = asRecord(body['tool_input']);
  if (tool === 'AskUserQuestion') {
    const questions = Array.isArray(input['questions']) ? input['questions'] : [];
    const text = questions.map((question) => textOf(asRecord(question)['question'])).join('\n');
    return { fact: 'waiting', kind: 'question', text };
  }
  if (tool === 'ExitPlanMode') return { fact: 'waiting', kind: 'question', text: textOf(input['plan']) };
  const command = textOf(input['command']);
  const detail = command === '' ? JSON.stringify(input, null, 2) : command;
  return { fact: 'permission_requested', tool, text: `${tool}: ${detail}` };
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asRecord(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {};
}
