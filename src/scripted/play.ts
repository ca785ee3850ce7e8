import type { Conversation } from './conversation.js';
import type { Rule } from './script-schema.js';
import { runSteps } from './steps.js';
import { firstUnmet, type Scope } from './template.js';
import type { Turn } from './turn.js';

/** Plays the first rule that fits the prompt. Throws StepFailure, or the signal's reason when interrupted. */
export async function playTurn(turn: Turn, prompt: string): Promise<void> {
  const { conversation } = turn;
  const rules = turn.script[conversation.role === 'lead' ? 'lead' : 'workers'];
  conversation.flag_path = flagPathIn(prompt) ?? conversation.flag_path;
  conversation.nonce = /WORKER_DONE\[([^\]\s]{1,64})\]/.exec(prompt)?.[1] ?? conversation.nonce;
  const chosen = chooseRule(rules, conversation, prompt);
  if (chosen === null) {
    turn.screen.say('No rule of my script fits this prompt, so I do nothing and end my turn.');
    return;
  }
  const { rule, key, captures } = chosen;
  conversation.used[key] = (conversation.used[key] ?? 0) + 1;
  conversation.last_rule = rule.name ?? key;
  Object.assign(conversation.values, captures, { prompt, cwd: turn.cwd, role: conversation.role });
  await turn.save();
  try {
    await runSteps(turn, rule.steps);
  } catch (error) {
    if (turn.signal.aborted || rule.on_failure === undefined) throw error;
    const failure = error instanceof Error ? error.message : String(error);
    turn.screen.note(`failed: ${failure}`);
    conversation.values['failure'] = failure;
    await runSteps(turn, rule.on_failure);
  }
}

interface ChosenRule {
  readonly rule: Rule;
  readonly key: string;
  readonly captures: Scope;
}

/** First fit wins. */
export function chooseRule(
  rules: readonly Rule[],
  conversation: Conversation,
  prompt: string,
): ChosenRule | null {
  for (const [index, rule] of rules.entries()) {
    const key = rule.name ?? `#${index}`;
    if (rule.times !== undefined && (conversation.used[key] ?? 0) >= rule.times) continue;
    if (rule.after !== undefined && ![rule.after].flat().includes(conversation.last_rule ?? '')) continue;
    if (rule.contains !== undefined && ![rule.contains].flat().every((text) => prompt.includes(text)))
      continue;
    const match = rule.match === undefined ? null : new RegExp(rule.match, 'm').exec(prompt);
    if (rule.match !== undefined && match === null) continue;
    const captures = Object.fromEntries(
      Object.entries(match?.groups ?? {}).filter(([, value]) => value !== undefined),
    );
    if (rule.if !== undefined && firstUnmet(rule.if, { ...conversation.values, ...captures }) !== null)
      continue;
    return { rule, key, captures };
  }
  return null;
}

/** The absolute path of a done.flag that a prompt names. */
export function flagPathIn(prompt: string): string | null {
  return /(?:^|[\s`'"(<])(\/[^\n`'"<>]*?done\.flag)\b/m.exec(prompt)?.[1] ?? null;
}
