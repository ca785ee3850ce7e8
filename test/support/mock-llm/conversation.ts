/** What a model is asked, whatever wire format it came in. */
export interface Conversation {
  readonly model: string;
  readonly system: string;
  readonly tools: readonly string[];
  readonly turns: readonly Turn[];
  /** Asked beside the work, for the agent's own use (a title): no prompt of anybody's. */
  readonly aside?: boolean;
}

export type Turn =
  | { readonly role: 'user'; readonly texts: readonly string[]; readonly results: readonly ToolResult[] }
  | { readonly role: 'assistant'; readonly texts: readonly string[]; readonly calls: readonly ToolCall[] };

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  readonly input: Record<string, unknown>;
}

export interface ToolResult {
  readonly callId: string;
  readonly text: string;
  readonly isError: boolean;
}

/** The part of a conversation that a rule is chosen by: the last prompt and what was said since. */
export interface Exchange {
  readonly conversation: Conversation;
  /** The last text of the last user turn that has one: agents put failed prompts and remarks before it. */
  readonly prompt: string;
  /** Assistant turns since that prompt. */
  readonly step: number;
  /** Tool results since that prompt, oldest first. */
  readonly results: readonly ToolResult[];
}

export function lastExchange(conversation: Conversation): Exchange {
  const { turns } = conversation;
  const start = turns.findLastIndex((turn) => turn.role === 'user' && promptOf(turn) !== '');
  const since = turns.slice(start + 1);
  const first = turns[start];
  return {
    conversation,
    prompt: first?.role === 'user' ? promptOf(first) : '',
    step: since.filter((turn) => turn.role === 'assistant').length,
    results: since.flatMap((turn) => (turn.role === 'user' ? turn.results : [])),
  };
}

/** Agents put remarks of their own beside what was typed; they are marked as such. */
const REMARK =
  /^\s*<(system-reminder|task-notification|environment_context|subagent_notification|turn_aborted)\b/;

function promptOf(turn: Extract<Turn, { role: 'user' }>): string {
  return turn.texts.filter((text) => !REMARK.test(text)).at(-1) ?? '';
}
