import type { AgentAdapter } from '../agents/contract.js';
import { Interrupted } from '../doors/cli/interrupted.js';
import { isTerminalGiven } from '../platform/foreground.js';
import type { Paths } from '../platform/paths.js';
import { sessionPlanSchema, type SessionPlanInput } from '../services/supervise/plan.js';
import { newSession } from './begin-session.js';
import { makeSessionData } from './places.js';
import { superviseSession } from './supervise-session.js';
import { packageVersion } from './manifest.js';

interface Surroundings {
  readonly paths: Paths;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly agents: readonly AgentAdapter[];
  /** Of the command line: what came before this was loaded. */
  readonly interrupted: AbortSignal;
  ready(): void;
}

/**
 * The supervisor of a session whose agent has this process's terminal. What the terminal sends reaches the agent by
 * itself; we only must not die of it, and must not end it a second time.
 */
export async function superviseHere(
  plan: SessionPlanInput,
  { paths, env, agents, interrupted, ready }: Surroundings,
): Promise<void> {
  await makeSessionData(paths, plan.session_id);
  let pause = (_reason: string) => undefined as void;
  const onInterrupt = () => {
    if (!isTerminalGiven()) pause('interrupted by the person');
  };
  const onTerm = () => pause('agentorchestr was asked to stop');
  const onHangUp = () => pause('its terminal was closed');
  process.on('SIGINT', onInterrupt).on('SIGQUIT', onInterrupt).on('SIGTERM', onTerm).on('SIGHUP', onHangUp);
  try {
    if (interrupted.aborted) throw new Interrupted();
    await superviseSession(
      {
        ...{ paths, env, agents },
        plan: sessionPlanSchema.parse(plan),
        version: packageVersion(),
        onReady: ready,
        onSignal: (listener) => (pause = listener),
      },
      newSession,
    );
  } finally {
    process.off('SIGINT', onInterrupt).off('SIGQUIT', onInterrupt);
    process.off('SIGTERM', onTerm).off('SIGHUP', onHangUp);
  }
}
