import type { Clock } from '../../../core/clock.js';
import type { Store } from '../../../store/contract.js';
import type { Logger } from '../../../platform/logger.js';
import { fact } from '../../engine/deps.js';
import { acceptInstruction } from '../../engine/instruct.js';
import type { EscalationWatch, Requested } from '../gateway.js';
import { escalationState } from './escalations.js';
import { FIRST_WORKER } from '../conversation-row.js';

export interface EscalationTimersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  newId(): string;
  /** A message lies there for the agent of this session. */
  wake(sessionId: string): void;
}

/** Requests that nobody answers in time: the child is told that this means no, and goes on. */
export class EscalationTimers implements EscalationWatch {
  readonly #deps: EscalationTimersDeps;
  readonly #timers = new Map<string, () => void>();

  constructor(deps: EscalationTimersDeps) {
    this.#deps = deps;
  }

  /** Those of an earlier daemon; what ran out meanwhile runs out now. */
  recover(): void {
    const { store } = this.#deps;
    for (const event of store.events({ after: 0, types: ['escalation.requested'] }))
      if (escalationState(store, event) === 'open') this.begin(event);
  }

  begin(event: Requested): void {
    const { escalation_id: id, expires_at: until } = event.data;
    const { clock, logger } = this.#deps;
    if (until === null || this.#timers.has(id)) return;
    const cancel = clock.after(Math.max(0, Date.parse(until) - clock.now()), () => {
      this.#timers.delete(id);
      try {
        this.#expire(event);
      } catch (error) {
        logger.error({ escalation: id, err: error }, 'not expired');
      }
    });
    this.#timers.set(id, cancel);
  }

  close(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }

  #expire({ session_id, worker_id, run_id, ...event }: Requested): void {
    const { store, newId, wake } = this.#deps;
    const { escalation_id, child, kind } = event.data;
    const isExpired = store.transaction((tx) => {
      const worker = tx.worker(child, FIRST_WORKER);
      const asked = { session_id, ...event } as Requested;
      if (worker === null || escalationState(tx, asked) !== 'open') return false;
      const { messageId } = acceptInstruction({ sessionId: child, newId }, tx, worker, {
        ...{ kind: 'follow_up', sender: 'agentorchestr', source: 'supervisor' },
        text: `Denied by timeout: nobody answered your ${kind.replace('_', ' ')}. Go on without it, or end.`,
      });
      tx.append(
        fact(
          'escalation.expired',
          {
            session_id,
            ...(worker_id === undefined ? {} : { worker_id }),
            ...(run_id === undefined ? {} : { run_id }),
            ...{ source: 'supervisor', evidence: 'protocol' },
          },
          { escalation_id, message_id: messageId },
        ),
      );
      return true;
    });
    if (isExpired) wake(child);
  }
}
