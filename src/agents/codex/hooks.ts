import type { HookFact, HookRules, TranscriptRules } from '../contract.js';

/** Bodies of its command hooks, on standard input. Seen on 0.171.0; a turn that failed fires none. */
export const codexHooks: HookRules = {
  tellsFailures: false,
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
      return [{ fact: 'prompt_submitted', text: textOf(body['prompt']) }];
    case 'Stop':
      return [{ fact: 'turn_ended', text: textOf(body['last_assistant_message']) }];
    case 'PermissionRequest':
      return [permission(body)];
    default:
      return [];
  }
}

function permission(body: Body): HookFact {
  const tool = textOf(body['tool_name']);
  const input = asRecord(body['tool_input']);
  const command = Array.isArray(input['command']) ? input['command'].join(' ') : textOf(input['command']);
  const detail = command === '' ? JSON.stringify(input, null, 2) : command;
  return { fact: 'permission_requested', tool, text: `${tool}: ${detail}` };
}

/** Lines of its rollout file. */
export const codexTranscript: TranscriptRules = {
  facts(line) {
    const { type, payload } = parsed(line);
    const body = asRecord(payload);
    if (type === 'event_msg' && body['type'] === 'task_complete')
      return [{ fact: 'turn_ended', text: textOf(body['last_agent_message']) }];
    if (type !== 'response_item' || body['type'] !== 'message' || body['role'] !== 'user') return [];
    const texts = (Array.isArray(body['content']) ? body['content'] : []).map((part: unknown) =>
      textOf(asRecord(part)['text']),
    );
    const text = texts.join('\n');
    // What it puts before the first prompt by itself.
    return /^<(environment_context|user_instructions|skills_instructions)>/.test(text)
      ? []
      : [{ fact: 'prompt_submitted', text }];
  },
};

/** A line may be half written. */
function parsed(line: string): Body {
  try {
    return asRecord(JSON.parse(line));
  } catch {
    return {};
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

function asRecord(value: unknown): Body {
  return typeof value === 'object' && value !== null ? (value as Body) : {};
}
