import { OrchestratorError } from '../../../core/errors/error.js';
import { noAgents } from '../goal/no-agents.js';
import type { DetectedAgent, KnownAgent } from '../host.js';

export type Place = 'tmux' | 'headless' | 'foreground';

/**
 * The one agent: the first that was named and found and can be started there, without a name the first program of its
 * own. Throws UNKNOWN_AGENT, NO_AGENTS, AGENT_NOT_LAUNCHABLE, AGENT_NEEDS_TMUX.
 */
export function chooseAgent(
  detected: readonly DetectedAgent[],
  known: readonly KnownAgent[],
  { names, place }: { names: readonly string[] | null; place: Place },
): DetectedAgent {
  const unknown = names?.find((name) => !known.some((agent) => agent.name === name));
  if (unknown !== undefined)
    throw new OrchestratorError('UNKNOWN_AGENT', { agent: unknown, valid: known.map(({ name }) => name) });
  const wanted =
    names === null ? detected : names.flatMap((name) => detected.filter((agent) => agent.name === name));
  const [first] = wanted;
  if (first === undefined) throw noAgents(names ?? [], known);
  const able = wanted.filter((agent) => canStart(agent, place));
  const chosen = able.find(({ kind }) => kind === 'sdk' || kind === 'cli') ?? able[0];
  if (chosen !== undefined) return chosen;
  const problem = wanted.some(({ launchable }) => launchable) ? 'AGENT_NEEDS_TMUX' : 'AGENT_NOT_LAUNCHABLE';
  throw new OrchestratorError(problem, {
    agent: (wanted.find(({ launchable }) => launchable) ?? first).name,
    valid: known.filter((agent) => canStart(agent, place)).map(({ name }) => name),
  });
}

function canStart(
  agent: Pick<DetectedAgent, 'launchable' | 'launchableInForeground'>,
  place: Place,
): boolean {
  return place === 'foreground' ? agent.launchableInForeground : agent.launchable;
}
