import type { AgentCalls } from '../doors/http/agent-routes.js';
import { runOfToken, type Tokens } from '../platform/tokens.js';
import type { Caller } from '../services/operation.js';
import { findRun } from '../services/gateway/conversation-row.js';
import type { Gateway } from '../services/gateway/gateway.js';
import type { AgentAccess } from '../services/session-context.js';
import type { createGatewayMcp } from './gateway-mcp.js';
import { TOKEN_VARIABLE } from './user-environment.js';

/** What clients that we do not know let one tool take; also that of agents that are none any more. */
const UNKNOWN_CLIENT_LIMIT_MS = 45_000;

/** What the process of a turn finds in its environment: where we are, who it is, and a token for that run alone. */
export function agentAccess(
  { url, agentctl }: { url: string; agentctl: string },
  tokens: Tokens,
  [sessionId, workerId, runId]: readonly [string, string, string | null],
): AgentAccess {
  const token = runId === null ? tokens.issue({ scope: 'worker', workerId }) : tokens.issueForRun(runId);
  return {
    mcpUrl: `${url}/mcp/${sessionId}`,
    hookUrl: `${url}/hooks/${sessionId}`,
    tokenVariable: TOKEN_VARIABLE,
    env: {
      ...{ AGENTORCHESTR_SESSION: sessionId, AGENTORCHESTR_WORKER: workerId, [TOKEN_VARIABLE]: token },
      ...{
        AGENTORCHESTR_SESSION_ID: sessionId,
        AGENTCTL: agentctl,
        AGENTCTL_URL: url,
        AGENTCTL_AUTH_TOKEN: token,
      },
      ...(runId === null ? {} : { AGENTORCHESTR_RUN_ID: runId }),
    },
  };
}

/** Who an agent is, by its token; and what it calls. */
export function agentCalls(
  gateway: Gateway,
  tokensOf: (sessionId: string) => Tokens,
  mcp: ReturnType<typeof createGatewayMcp>,
): AgentCalls {
  const { store, conversations } = gateway;
  const runOf = (token: string) => {
    const runId = runOfToken(token);
    const run = runId === null ? null : store.run(runId);
    return run !== null && tokensOf(run.session_id).isForRun(token, run.run_id) ? run : null;
  };
  const toolLimit = ({ runId }: Caller): number => {
    const run = runId === undefined ? null : store.run(runId);
    const agent = run === null ? undefined : store.worker(run.session_id, run.worker_id)?.agent;
    const adapter = gateway.agents.agents.find(({ name }) => name === agent);
    return adapter?.headless?.mcpCallLimitMs ?? UNKNOWN_CLIENT_LIMIT_MS;
  };
  return {
    workerOf(sessionId, token) {
      const run = runOf(token);
      if (run !== null) return run.session_id === sessionId ? run.worker_id : null;
      return tokensOf(sessionId).identify(token)?.workerId ?? null;
    },
    callerOf(token) {
      const run = runOf(token);
      if (run === null) return null;
      const { run_id: runId, session_id: sessionId, worker_id: workerId } = run;
      return { scope: 'run', workerId, runId, name: `session ${sessionId}`, callLimitMs: Infinity };
    },
    sessionOf: ({ runId }) => (runId === undefined ? null : findRun(gateway, runId).session_id),
    mcp: ({ request, response, caller, body }) =>
      mcp.handle(request, response, { ...caller, callLimitMs: toolLimit(caller) }, body),
    hook: async (sessionId, { agent, workerId, body, hungUp }) => {
      const isAsked = agent === undefined || store.worker(sessionId, workerId)?.agent === agent;
      return isAsked ? (await conversations.engine(sessionId)).hook(workerId, body, hungUp) : null;
    },
  };
}
