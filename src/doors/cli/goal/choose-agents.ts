import { OrchestratorError } from '../../../core/errors/error.js';
import type { DetectedAgent, KnownAgent } from '../host.js';
import { noAgents } from './no-agents.js';

export interface AgentWishes {
  /** `--agents`; null when not given. */
  readonly names: readonly string[] | null;
  /** `--lead`. */
  readonly lead: string | null;
}

export interface AgentChoice {
  readonly lead: DetectedAgent;
  readonly workers: readonly DetectedAgent[];
  readonly warnings: readonly string[];
}

const WORKERS_BY_DEFAULT = 3;

/**
 * Who leads and who works. `--agents` restricts to the agents it names; names that are not found are warned of while
 * one is. Without `--lead` the best orchestrator with MCP leads, among programs of their own before editors and
 * extensions. Throws UNKNOWN_AGENT, NO_AGENTS, LEAD_CONFLICT, LEAD_WITHOUT_MCP, AGENT_NOT_LAUNCHABLE.
 */
export function chooseAgents(
  detected: readonly DetectedAgent[],
  known: readonly KnownAgent[],
  wishes: AgentWishes,
): AgentChoice {
  const { names, lead: leadName } = wishes;
  if (leadName !== null && !known.some((agent) => agent.name === leadName))
    throw unknownAgent(leadName, known);
  if (names !== null && leadName !== null && !names.includes(leadName))
    throw new OrchestratorError('LEAD_CONFLICT', { lead: leadName, agents: names });
  const warnings = names === null ? [] : warningsAbout(names, detected, known);
  const wanted = names === null ? detected : detected.filter((agent) => names.includes(agent.name));
  if (leadName !== null) checkNamedLead(leadName, detected, known);
  if (wanted.length === 0) throw nobody(names ?? [], known);
  const candidates = wanted.filter((agent) => agent.launchable);
  const [first] = wanted;
  if (candidates.length === 0 && first !== undefined)
    throw new OrchestratorError('AGENT_NOT_LAUNCHABLE', { agent: first.name, valid: launchable(known) });
  const lead = leadName === null ? bestLead(candidates, known) : findByName(candidates, leadName);
  const others = candidates.filter((agent) => agent.name !== lead.name);
  const workers = names === null ? others.slice(0, WORKERS_BY_DEFAULT) : others;
  if (workers.length > 0) return { lead, workers, warnings };
  // Who names one agent and no other wants just that.
  if (names !== null && warnings.length === 0) return { lead, workers: [lead], warnings };
  const alone = `only ${lead.name} can be used: it leads and works, as separate instances`;
  return { lead, workers: [lead], warnings: [...warnings, alone] };
}

/** A name that no agent has is a slip; one that is not installed is to be installed. */
function nobody(names: readonly string[], known: readonly KnownAgent[]): OrchestratorError {
  const isKnown = (name: string) => known.some((agent) => agent.name === name);
  const [slip] = names;
  return slip === undefined || names.some(isKnown) ? noAgents(names, known) : unknownAgent(slip, known);
}

function unknownAgent(agent: string, known: readonly KnownAgent[]): OrchestratorError {
  return new OrchestratorError('UNKNOWN_AGENT', { agent, valid: known.map(({ name }) => name) });
}

function warningsAbout(
  names: readonly string[],
  detected: readonly DetectedAgent[],
  known: readonly KnownAgent[],
): string[] {
  return names.flatMap((name) => {
    if (!known.some((agent) => agent.name === name)) return [`no agent is called "${name}"; it is left out`];
    const agent = detected.find((found) => found.name === name);
    if (agent === undefined) return [`${name} was not found on PATH; it is left out`];
    return agent.launchable
      ? []
      : [`${name} was found but cannot be started by this version; it is left out`];
  });
}

function checkNamedLead(
  name: string,
  detected: readonly DetectedAgent[],
  known: readonly KnownAgent[],
): void {
  const agent = detected.find((found) => found.name === name);
  if (agent === undefined) throw noAgents([name], known);
  if (!agent.mcp) throw new OrchestratorError('LEAD_WITHOUT_MCP', { lead: name, valid: ableToLead(known) });
  if (!agent.launchableAsLead)
    throw new OrchestratorError('AGENT_NOT_LAUNCHABLE', {
      agent: name,
      valid: known.filter((other) => other.launchableAsLead && other.mcp).map((other) => other.name),
    });
}

function bestLead(candidates: readonly DetectedAgent[], known: readonly KnownAgent[]): DetectedAgent {
  const able = candidates.filter((agent) => agent.mcp && agent.launchableAsLead);
  const programs = able.filter((agent) => agent.kind === 'sdk' || agent.kind === 'cli');
  const [best] = (programs.length > 0 ? programs : able).toSorted((a, b) => b.orchestrate - a.orchestrate);
  if (best !== undefined) return best;
  const names = candidates.map((agent) => agent.name).join(', ');
  throw new OrchestratorError('LEAD_WITHOUT_MCP', { lead: names, valid: ableToLead(known) });
}

function findByName(agents: readonly DetectedAgent[], name: string): DetectedAgent {
  const agent = agents.find((candidate) => candidate.name === name);
  if (agent === undefined) throw new Error(`${name} was checked before`);
  return agent;
}

function launchable(known: readonly KnownAgent[]): string[] {
  return known.filter((agent) => agent.launchable).map((agent) => agent.name);
}

function ableToLead(known: readonly KnownAgent[]): string[] {
  return known.filter((agent) => agent.mcp).map((agent) => agent.name);
}
