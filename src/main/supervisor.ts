import { text } from 'node:stream/consumers';
import { errorBody, toOrchestratorError } from '../core/errors/error.js';
import { resolvePaths } from '../platform/paths.js';
import { newSession } from './begin-session.js';
import { readAgents } from './own-agents.js';
import { readLeftSession } from './left-session.js';
import { tellStarter } from './start-message.js';
import { superviseSession, type Beginning } from './supervise-session.js';
import { supervisorOrderSchema, type SupervisorOrder } from './supervisor-order.js';
import { leftSession } from './take-up-session.js';
import type { SessionPlan } from '../services/supervise/plan.js';
import { packageVersion } from './manifest.js';

/**
 * The detached process that owns one session. It is given its order on stdin (a plan, or a session to take up) and says
 * once that the session is ready or why it is not (`start-message.ts`); after that the log file has everything.
 */
async function beginningOf(order: SupervisorOrder): Promise<{ plan: SessionPlan; beginning: Beginning }> {
  if ('plan' in order) return { plan: order.plan, beginning: newSession };
  const { row, plan } = await readLeftSession(process.env, order.take_up);
  return { plan, beginning: leftSession(row, order.take_up.addition) };
}

try {
  const order = supervisorOrderSchema.parse(JSON.parse(await text(process.stdin)));
  const { plan, beginning } = await beginningOf(order);
  const paths = resolvePaths(process.env);
  await superviseSession(
    {
      plan,
      agents: readAgents(paths),
      paths,
      env: process.env,
      version: packageVersion(),
      onReady: (ready) => tellStarter({ ready }),
      onSignal: (listener) => {
        const onSignal = () => listener('the supervisor was asked to stop');
        process.on('SIGTERM', onSignal);
        process.on('SIGINT', onSignal);
        process.on('SIGHUP', () => undefined);
      },
    },
    beginning,
  );
  process.exit(0);
} catch (thrown) {
  const error = toOrchestratorError(thrown);
  tellStarter({ error: errorBody(error) });
  process.stderr.write(`${error.stack ?? error.message}\n`);
  process.exit(error.exitCode);
}
