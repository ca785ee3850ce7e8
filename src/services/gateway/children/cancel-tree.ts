import { isTerminalRun } from '../../../core/state/states.js';
import type { RunRow } from '../../../core/state/rows.js';
import type { CancelRequest } from '../../engine/cancel-run.js';
import type { Gateway } from '../gateway.js';
import { openRunsBelow } from './lineage.js';

/**
 * Asks a run to end, and everything below it, also below what has ended already. What is asked is committed before this
 * resolves; the ends of the processes come as events.
 */
export async function cancelTree(gateway: Gateway, run: RunRow, request: CancelRequest): Promise<void> {
  const { conversations, logger, store } = gateway;
  if (!isTerminalRun(store.run(run.run_id)?.state ?? 'cancelled')) {
    const engine = await conversations.engine(run.session_id);
    engine
      .cancel(run.run_id, request)
      .catch((error: unknown) => logger.error({ run: run.run_id, err: error }, 'not cancelled'));
  }
  await Promise.all(openRunsBelow(store, run).map((below) => cancelTree(gateway, below, request)));
}
