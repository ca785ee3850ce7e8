import type { Logger } from './logger.js';

/** Who is told of what happens; one that throws harms nobody else. */
export class Listeners<Event extends { readonly type: string }> {
  private readonly logger: Logger;
  private readonly listeners = new Set<(event: Event) => void>();

  constructor(logger: Logger) {
    this.logger = logger;
  }

  add(listener: (event: Event) => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }

  emit(event: Event): void {
    for (const listener of this.listeners) {
      try {
        listener(event);
      } catch (error) {
        this.logger.error({ error: String(error), type: event.type }, 'a listener of events threw');
      }
    }
  }
}
