import type { Logger } from '../../platform/logger.js';
import type { BackendEvent } from '../contract.js';

/** Who is told of what happens to the agents; one that throws harms nobody else. */
export class Listeners {
  private readonly logger: Logger;
  private readonly listeners = new Set<(event: BackendEvent) => void>();

  constructor(logger: Logger) {
    this.logger = logger;
  }

  add(listener: (event: BackendEvent) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  emit(event: BackendEvent): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch (error) {
        this.logger.error({ error: String(error), type: event.type }, 'a listener of backend events threw');
      }
    }
  }
}
