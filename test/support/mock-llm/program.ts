import { randomUUID } from 'node:crypto';
import {
  lastExchange,
  type Conversation,
  type Exchange,
  type ToolResult,
  type Turn,
} from './conversation.js';
import type { Rule, Step, StepCall } from './reply.js';

/** What a step came to: the results of its calls in order, or, for words alone, the prompt that came next. */
export interface Answer {
  readonly results: readonly (Record<string, unknown> & {
    readonly text: string;
    readonly isError: boolean;
  })[];
  readonly prompt: string;
}

/** `prompt` is the one it starts from. */
export type Program = (prompt: string) => Generator<Step, void, Answer>;

/**
 * A model that follows a program from the first prompt that `when` accepts, over all later turns. It is run anew for
 * every request and fed with what the conversation says happened: it needs no memory, so retries, resumed
 * conversations and many agents at once are no matter. Past its end it says "ok".
 */
export function program(name: string, when: Rule['when'], body: Program): Rule {
  return {
    name,
    when: (exchange) => firstPrompt(exchange.conversation, when) !== -1,
    steps: [],
    play: ({ conversation }) => replay(conversation, firstPrompt(conversation, when), body),
  };
}

export function call(tool: string, input: Record<string, unknown> = {}): Step {
  return { calls: [{ tool, input }] };
}

export function calls(...list: readonly StepCall[]): Step {
  return { calls: list };
}

/** Ends the turn. */
export function say(text: string): Step {
  return { text };
}

export function bash(command: string, more: Record<string, unknown> = {}): Step {
  return call('Bash', { command, description: 'as planned', ...more });
}

/**
 * The agent kills itself, once its conversation holds that it does: it writes that a little later, and one that is
 * resumed without it would do it again. Whatever its shell still waits for ends with it.
 */
export function killsItself(): Step {
  const mark = `mark-${randomUUID()}`;
  const isKept = `grep -rqs ${mark} "$HOME/.claude/projects" "$HOME/.codex/sessions"`;
  return bash(`for i in $(seq 50); do ${isKept} && break; sleep 0.1; done; kill -9 $PPID; exec sleep 5`);
}

function firstPrompt(conversation: Conversation, when: Rule['when']): number {
  return conversation.turns.findIndex((turn, index) => {
    if (turn.role !== 'user') return false;
    const exchange: Exchange = lastExchange({
      ...conversation,
      turns: conversation.turns.slice(0, index + 1),
    });
    return exchange.step === 0 && when(exchange);
  });
}

function replay(conversation: Conversation, start: number, body: Program): Step {
  const first = lastExchange({ ...conversation, turns: conversation.turns.slice(0, start + 1) });
  const running = body(first.prompt);
  let next = running.next();
  conversation.turns.forEach((turn, index) => {
    if (index <= start || turn.role !== 'assistant' || isFiller(turn) || next.done === true) return;
    next = running.next(answerTo(turn, conversation.turns[index + 1]));
  });
  return next.done === true ? { text: 'ok' } : next.value;
}

/** What an agent puts in place of a turn that its death cut off, when it takes up the conversation. */
function isFiller({ texts, calls: made }: Extract<Turn, { role: 'assistant' }>): boolean {
  return made.length === 0 && texts.join('').trim() === 'No response requested.';
}

function answerTo(turn: Extract<Turn, { role: 'assistant' }>, after: Turn | undefined): Answer {
  const results = after?.role === 'user' ? after.results : [];
  const prompt = after?.role === 'user' ? (after.texts.at(-1) ?? '') : '';
  return {
    prompt,
    results: turn.calls.map(({ id }) => parsed(results.find(({ callId }) => callId === id))),
  };
}

function parsed(result: ToolResult | undefined): Answer['results'][number] {
  const { text = '', isError = false } = result ?? {};
  return { ...asRecord(text), text, isError };
}

function asRecord(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}
