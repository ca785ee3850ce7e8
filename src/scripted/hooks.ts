import type { Clock } from '../core/clock.js';

/** The moments that are told to the hook address, in the words that real agents use. */
export type HookEvent =
  | { readonly hook_event_name: 'SessionStart'; readonly source: 'startup' | 'resume' | 'clear' }
  | { readonly hook_event_name: 'UserPromptSubmit'; readonly prompt: string }
  | { readonly hook_event_name: 'PermissionRequest'; readonly tool_name: string; readonly message: string }
  | { readonly hook_event_name: 'Notification'; readonly kind: string; readonly message: string }
  | {
      readonly hook_event_name: 'Stop';
      readonly last_assistant_message: string;
      readonly stop_hook_active: boolean;
    }
  | { readonly hook_event_name: 'StopFailure'; readonly message: string }
  | { readonly hook_event_name: 'SessionEnd' };

export interface HookTarget {
  readonly url: string | null;
  readonly token: string | null;
  readonly cwd: string;
  /** The file that keeps the conversation; null: none does. */
  readonly transcript: string | null;
  readonly clock: Clock;
}

/** A hook may slow the agent down by this much and no more; a missing listener never stops it. */
const HOOK_LIMIT_MS = 2_000;

/** A question to the listener waits for its answer, as long as somebody may need to find it. */
const DECISION_LIMIT_MS = 600_000;

/** Posts one event; resolves with the answer's JSON, or null when there is none or nobody listens. */
export async function postHook(
  target: HookTarget,
  threadId: string,
  event: HookEvent,
  limitMs = HOOK_LIMIT_MS,
): Promise<unknown> {
  if (target.url === null) return null;
  const limit = new AbortController();
  const cancel = target.clock.after(limitMs, () => limit.abort());
  try {
    const answer = await fetch(target.url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        ...(target.token === null ? {} : { authorization: `Bearer ${target.token}` }),
      },
      body: JSON.stringify({
        ...event,
        session_id: threadId,
        cwd: target.cwd,
        ...(target.transcript === null ? {} : { transcript_path: target.transcript }),
      }),
      signal: limit.signal,
    });
    return answer.ok ? await answer.json() : (await answer.body?.cancel(), null);
  } catch {
    return null;
  } finally {
    cancel();
  }
}

/** What the listener decided, or null when nobody did. */
export async function askHook(
  target: HookTarget,
  threadId: string,
  request: { readonly tool: string; readonly message: string },
): Promise<{ allowed: boolean; message: string } | null> {
  const event = {
    hook_event_name: 'PermissionRequest',
    tool_name: request.tool,
    message: request.message,
  } as const;
  const answer = await postHook(target, threadId, event, DECISION_LIMIT_MS);
  const { permission, message } = (answer ?? {}) as { permission?: unknown; message?: unknown };
  if (permission !== 'allow' && permission !== 'deny') return null;
  return { allowed: permission === 'allow', message: typeof message === 'string' ? message : '' };
}

/** The reason to go on that a Stop answer carries, or null. */
export function blockReason(answer: unknown): string | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const { decision, reason } = answer as { decision?: unknown; reason?: unknown };
  return decision === 'block' && typeof reason === 'string' ? reason : null;
}
