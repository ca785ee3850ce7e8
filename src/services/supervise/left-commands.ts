import { delay } from '../../core/clock.js';
import { processesWithVariable, signalProcess } from '../../platform/process-tree.js';
import type { SessionContext } from '../session-context.js';

/** Carried by the set-up and verify commands of a session, so that those of a supervisor that died can be found. */
export const COMMANDS_VARIABLE = 'AGENTORCHESTR_COMMANDS_OF';

const LIMIT_MS = 3_000;

/** Ends what set-up and verify commands of an earlier supervisor still do: nobody waits for their outcome any more. */
export async function endLeftCommands({ sessionId, clock, logger }: SessionContext): Promise<void> {
  const deadline = clock.now() + LIMIT_MS;
  for (let pauseMs = 5; ; pauseMs = Math.min(pauseMs * 2, 100)) {
    const left = await processesWithVariable(COMMANDS_VARIABLE, sessionId);
    if (left.length === 0) return;
    if (clock.now() >= deadline)
      return logger.error({ pids: left.map(({ pid }) => pid) }, 'commands could not be ended');
    for (const process of left) signalProcess(process, 'SIGKILL');
    await delay(clock, pauseMs);
  }
}
