import type { AgentAdapter } from '../agents/contract.js';
import { findAgent, launchOf } from '../agents/registry.js';
import { LEAD_ID } from '../core/ids.js';
import { isPerTurn } from '../core/state/states.js';
import { newId } from '../platform/ids.js';
import { createMutex } from '../platform/locks.js';
import { cpuTimeOf } from '../platform/process-tree.js';
import type { Tokens } from '../platform/tokens.js';
import { Engine } from '../services/engine/engine.js';
import { Slots } from '../services/engine/slots.js';
import {
  requireLive,
  type AgentAccess,
  type LiveSession,
  type SessionContext,
} from '../services/session-context.js';
import { workerDirectory } from '../services/places.js';
import type { EndSignals } from '../services/supervise/await-end.js';
import { bringBack } from '../services/supervise/bring-back.js';
import { turnSpecOf } from '../services/supervise/launch-agent.js';
import { COMMANDS_VARIABLE } from '../services/supervise/left-commands.js';
import type { SessionPlan } from '../services/supervise/plan.js';
import { ToolsSeen } from '../services/supervise/tools-seen.js';
import { VerifyJobs } from '../services/supervise/verify-jobs.js';
import { commandEnvironment, TOKEN_VARIABLE } from './user-environment.js';

export interface LiveParts {
  readonly plan: SessionPlan;
  readonly agents: readonly AgentAdapter[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly context: SessionContext;
  readonly backend: LiveSession['backend'];
  readonly end: EndSignals;
  readonly port: number;
  readonly gitEnvironment: Readonly<Record<string, string>>;
  readonly tokens: Tokens;
}

/** What only the supervisor has: the engine, the jobs, and what its agents are given. */
export function createLive(parts: LiveParts): LiveSession {
  const { plan, agents, context, backend, end } = parts;
  const { sessionId, store, git, clock, logger, places } = context;
  const commands = { ...commandEnvironment(parts.env, agents), [COMMANDS_VARIABLE]: context.sessionId };
  const engine = new Engine({
    sessionId,
    store,
    backend,
    clock,
    logger,
    newId,
    launch: ({ agent, backend: place }) => launchOf(findAgent(agent, agents), place),
    turn: (worker) =>
      isPerTurn(worker) ? (attemptId) => turnSpecOf(context, requireLive(context), worker, attemptId) : null,
    // Workers are limited in number already, and each has work of its own.
    slots: new Slots(Number.MAX_SAFE_INTEGER),
    outcomeBy: () => 'report',
    stallMs: plan.limits.stall_s === 0 ? null : plan.limits.stall_s * 1_000,
    cpuTime: cpuTimeOf,
    workerDirectory: (workerId) => workerDirectory(places, workerId),
    // Nobody starts a session in a project that the user does not trust.
    consents: (to) => to === 'trust' || plan.bypass_permissions,
    bringBack: (worker) => bringBack(context, requireLive(context), worker),
    onLeadStuck: () => logger.warn('the lead ended its turn and nothing can wake it'),
    onEnded: (workerId, how) => {
      if (workerId === LEAD_ID) end.leadEnded(how);
    },
  });
  return {
    plan,
    backend,
    engine,
    verifyJobs: new VerifyJobs({
      sessionId,
      store,
      git,
      clock,
      logger,
      places,
      commandEnvironment: commands,
      newId,
    }),
    toolsSeen: new ToolsSeen(clock),
    launching: new Map(),
    integrating: createMutex(),
    ending: new AbortController(),
    commandEnvironment: commands,
    isRoot: process.getuid?.() === 0,
    agent: (name) => ({ adapter: findAgent(name, agents), binary: plan.binaries[name] ?? '' }),
    finish: () => end.verdict(),
    pause: (reason) => end.pause(reason),
    stop: (reason) => end.fail(reason),
    agentAccess: (workerId) => agentAccess(parts, workerId),
  };
}

function agentAccess({ context, port, gitEnvironment, tokens }: LiveParts, workerId: string): AgentAccess {
  const identity =
    workerId === LEAD_ID ? ({ scope: 'lead', workerId } as const) : ({ scope: 'worker', workerId } as const);
  return {
    mcpUrl: `http://127.0.0.1:${port}/mcp`,
    hookUrl: `http://127.0.0.1:${port}/hooks`,
    tokenVariable: TOKEN_VARIABLE,
    env: {
      ...gitEnvironment,
      AGENTORCHESTR_SESSION: context.sessionId,
      AGENTORCHESTR_WORKER: workerId,
      [TOKEN_VARIABLE]: tokens.issue(identity),
    },
  };
}
