import { OrchestratorError } from '../core/errors/error.js';
import { editDistance } from '../core/nearest.js';
import { aider } from './aider.js';
import { amp } from './amp.js';
import { claude } from './claude.js';
import { codex } from './codex.js';
import type { AgentAdapter, AgentOption, InteractiveLaunch, Launch } from './contract.js';
import { copilot } from './copilot.js';
import { cursor } from './cursor.js';
import { gemini } from './gemini.js';
import { goose } from './goose.js';
import { kilocode } from './kilocode.js';
import { kiro } from './kiro.js';
import { openclaude } from './openclaude.js';
import { opencode } from './opencode.js';
import { scripted } from './scripted.js';
import { windsurf } from './windsurf.js';

/** Every agent we know, in the order of the documentation. Adding one: one file and one entry here. */
export const AGENTS: readonly AgentAdapter[] = [
  claude,
  openclaude,
  kiro,
  opencode,
  gemini,
  codex,
  goose,
  amp,
  aider,
  cursor,
  windsurf,
  copilot,
  kilocode,
  scripted,
];

/** Throws UNKNOWN_AGENT; its hint names the nearest agents, or all of them when none is near. */
export function findAgent(name: string, agents: readonly AgentAdapter[] = AGENTS): AgentAdapter {
  const found = agents.find((agent) => agent.name === name);
  if (found !== undefined) return found;
  const names = agents.map((agent) => agent.name);
  const near = names.filter((known) => isNear(name.toLowerCase(), known));
  throw new OrchestratorError('UNKNOWN_AGENT', { agent: name, valid: near.length > 0 ? near : names });
}

/** How the agent is started where this worker runs (`backend` of its row); null: not at all by this version. */
export function launchOf(adapter: AgentAdapter, backend: string): Launch | null {
  if (backend === 'foreground') return inForeground(adapter);
  return backend === 'headless' ? adapter.headless : adapter.interactive;
}

/**
 * On a terminal where nobody but the person types: its first text is an argument, which reaches it as it is, and it does
 * not begin before that text is due.
 */
function inForeground({ interactive }: AgentAdapter): Launch | null {
  if (interactive?.firstPrompt === undefined) return null;
  return { ...interactive, paste: null, toolsAtStart: false } as InteractiveLaunch;
}

/** The first setting that this agent cannot be started without and does not have; null: it has all. */
export function missingOption(
  { name, options }: Pick<AgentAdapter, 'name' | 'options'>,
  given: Readonly<Record<string, Readonly<Record<string, string>>>>,
): AgentOption | null {
  return (
    (options ?? []).find((option) => option.required && given[name]?.[option.name] === undefined) ?? null
  );
}

/** Everything that must not reach an agent we start, so that none believes it runs inside another. */
export function guardVariables(agents: readonly AgentAdapter[] = AGENTS): readonly string[] {
  return [...new Set(agents.flatMap((agent) => agent.guardVariables))].sort();
}

function isNear(typed: string, known: string): boolean {
  if (typed.length >= 3 && (known.startsWith(typed) || typed.startsWith(known))) return true;
  return editDistance(typed, known) <= 2;
}
