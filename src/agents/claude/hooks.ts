import type { WaitingKind } from '../../core/state/states.js';
import type { HookFact } from '../contract.js';
import { asRecord, commonFacts, namedHooks, permission, textOf, type HookBody } from '../hook-kit.js';
import { unwrapped } from './wrapper.js';

/** Bodies of its hooks: https://code.claude.com/docs/en/hooks, and seen on 2.1.332. */
export const claudeHooks = namedHooks({ tellsFailures: true, facts });

function facts(body: HookBody): readonly HookFact[] {
  switch (body['hook_event_name']) {
    case 'UserPromptSubmit':
      return [{ fact: 'prompt_submitted', text: unwrapped(textOf(body['prompt'])) }];
    case 'Stop':
      return [
        { fact: 'turn_ended', text: textOf(body['last_assistant_message']), goesOn: hasBackgroundWork(body) },
      ];
    case 'StopFailure':
      return failure(body);
    case 'PermissionRequest':
      return [ownQuestion(body) ?? permission(body)];
    case 'Notification':
      return body['notification_type'] === 'elicitation_dialog'
        ? [{ fact: 'waiting', kind: 'dialog', text: textOf(body['message']) }]
        : [];
    default:
      return commonFacts(body) ?? [];
  }
}

/** A command or agent of its own that still runs will wake it with its result. */
function hasBackgroundWork(body: HookBody): boolean {
  const tasks = body['background_tasks'];
  return Array.isArray(tasks) && tasks.some((task) => asRecord(task)['status'] === 'running');
}

const NEEDS_PERSON: Readonly<Record<string, WaitingKind>> = {
  rate_limit: 'quota',
  billing_error: 'quota',
  authentication_failed: 'login',
  oauth_org_not_allowed: 'login',
};

function failure(body: HookBody): readonly HookFact[] {
  const text = textOf(body['last_assistant_message']);
  const kind = NEEDS_PERSON[textOf(body['error'])];
  return [{ fact: 'turn_failed', text, ...(kind === undefined ? {} : { kind }) }];
}

/** They come through the same hook; an answer by yes or no would not answer them. */
function ownQuestion(body: HookBody): HookFact | null {
  const tool = textOf(body['tool_name']);
  const input = asRecord(body['tool_input']);
  if (tool === 'ExitPlanMode') return { fact: 'waiting', kind: 'question', text: textOf(input['plan']) };
  if (tool !== 'AskUserQuestion') return null;
  const questions: unknown[] = Array.isArray(input['questions']) ? input['questions'] : [];
  const text = questions.map((question) => textOf(asRecord(question)['question'])).join('\n');
  return { fact: 'waiting', kind: 'question', text };
}
