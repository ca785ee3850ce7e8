import type { Clock } from '../../core/clock.js';
import { newSecret } from '../../platform/tokens.js';
import type { Caller } from '../../services/operation.js';

const TICKET_MS = 30_000;
/** Of those that nobody has used yet; then the oldest gives way. */
const MOST_TICKETS = 1_000;

export interface Ticket {
  readonly ticket: string;
  readonly expires_at: string;
}

/**
 * For who cannot send headers: a secret that opens one stream, once, within half a minute, for the very caller that
 * asked for it. It may stand in an address, where a token may not: when somebody reads it there, it is used up.
 */
export class Tickets {
  readonly #clock: Clock;
  readonly #open = new Map<string, { readonly caller: Caller; readonly untilMs: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  issue(caller: Caller): Ticket {
    this.#forgetOld();
    const ticket = newSecret();
    const untilMs = this.#clock.now() + TICKET_MS;
    this.#open.set(ticket, { caller, untilMs });
    return { ticket, expires_at: new Date(untilMs).toISOString() };
  }

  /** null: it was never issued, was used, or is too old. */
  take(ticket: string): Caller | null {
    const found = this.#open.get(ticket);
    this.#open.delete(ticket);
    return found !== undefined && this.#clock.now() < found.untilMs ? found.caller : null;
  }

  /** In the order in which they were issued. */
  #forgetOld(): void {
    for (const [ticket, { untilMs }] of this.#open) {
      if (this.#clock.now() < untilMs && this.#open.size < MOST_TICKETS) return;
      this.#open.delete(ticket);
    }
  }
}
