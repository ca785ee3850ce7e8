import type { Delivery, SendOptions } from '../contract.js';
import { deliveryText, type DeliveryText } from './delivery-text.js';

interface Waiting {
  readonly content: DeliveryText;
  readonly options: SendOptions;
  readonly settle: (delivery: Delivery) => void;
}

export const CANCELLED: Delivery = { outcome: 'refused', reason: 'cancelled before anything was typed' };

/** The queue of one pane: one text at a time, in the order of the calls. A cancelled one leaves at once. */
export class SendQueue {
  private readonly deliver: (content: DeliveryText, options: SendOptions) => Promise<Delivery>;
  private readonly queue: Waiting[] = [];
  private busy = false;

  /** What `deliver` throws means that nothing was typed. */
  constructor(deliver: (content: DeliveryText, options: SendOptions) => Promise<Delivery>) {
    this.deliver = deliver;
  }

  send(text: string, options: SendOptions): Promise<Delivery> {
    const content = deliveryText(text);
    if (content.text.trim() === '')
      return Promise.resolve({ outcome: 'refused', reason: 'there is no text to deliver' });
    const { signal } = options;
    if (signal?.aborted === true) return Promise.resolve(CANCELLED);
    return new Promise((resolve) => {
      const leave = () => {
        const index = this.queue.indexOf(entry);
        if (index === -1) return;
        this.queue.splice(index, 1);
        entry.settle(CANCELLED);
      };
      const entry: Waiting = {
        content,
        options,
        settle: (delivery) => {
          signal?.removeEventListener('abort', leave);
          resolve(delivery);
        },
      };
      signal?.addEventListener('abort', leave, { once: true });
      this.queue.push(entry);
      if (!this.busy) void this.work();
    });
  }

  private async work(): Promise<void> {
    this.busy = true;
    for (let entry = this.queue.shift(); entry !== undefined; entry = this.queue.shift()) {
      const { content, options, settle } = entry;
      settle(await this.deliver(content, options).catch(refusedBecause));
    }
    this.busy = false;
  }
}

function refusedBecause(error: unknown): Delivery {
  return { outcome: 'refused', reason: error instanceof Error ? error.message : String(error) };
}
