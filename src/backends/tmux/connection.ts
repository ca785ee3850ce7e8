import { delay, type Clock } from '../../core/clock.js';
import { OrchestratorError, toOrchestratorError } from '../../core/errors/error.js';
import type { Logger } from '../../platform/logger.js';
import type { ControlClient, Existence } from './types.js';

export interface ConnectionOptions {
  /** Attaches to the session that is there. */
  readonly attach: () => Promise<ControlClient>;
  readonly existence: () => Promise<Existence>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The connection is back; output in between was missed. */
  readonly onReconnected: () => void;
  /** tmux dropped output of this pane because we were behind; it flows again. */
  readonly onGap: (paneId: string) => void;
}

/** Pauses between attempts to attach again, ms; the last one repeats. */
const PAUSES_MS = [0, 100, 300, 1_000, 3_000, 10_000];

/**
 * A control client that survives the end of its process: as long as the server is not known to be gone, it attaches
 * again and nobody above is told that anything died. `closed` resolves when the place is over, or when we left it.
 */
export class TmuxConnection implements ControlClient {
  readonly closed: Promise<string>;
  private readonly options: ConnectionOptions;
  private readonly outputListeners = new Set<(paneId: string, data: Buffer) => void>();
  private readonly notificationListeners = new Set<(line: string) => void>();
  private current: Promise<ControlClient>;
  private readonly leaving = new AbortController();
  private resolveClosed: (reason: string) => void = () => undefined;

  constructor(first: ControlClient, options: ConnectionOptions) {
    this.options = options;
    this.closed = new Promise((resolve) => (this.resolveClosed = resolve));
    this.current = this.use(first);
  }

  async command(...args: readonly string[]): Promise<readonly string[]> {
    const used = this.current;
    try {
      return await (await used).command(...args);
    } catch (thrown) {
      const error = toOrchestratorError(thrown);
      if (error.code !== 'TMUX_LOST') throw error;
      // Only the client may have died. Whether the command ran cannot be known, so it is not run again.
      await this.afterLoss(used);
      throw new OrchestratorError('TMUX_FAILED', {
        command: args[0] ?? '',
        problem: 'the connection broke while it ran',
      });
    }
  }

  onOutput(listener: (paneId: string, data: Buffer) => void): () => void {
    this.outputListeners.add(listener);
    return () => this.outputListeners.delete(listener);
  }

  onNotification(listener: (line: string) => void): () => void {
    this.notificationListeners.add(listener);
    return () => this.notificationListeners.delete(listener);
  }

  /** From here on the end of the client is no loss: it is not attached again. */
  leave(): void {
    this.leaving.abort();
  }

  async detach(): Promise<void> {
    this.leave();
    await this.current.then((client) => client.detach()).catch(() => undefined);
    this.resolveClosed('we left');
  }

  /** Resolves when the connection stands again; rejects with TMUX_LOST when there is nothing left to connect to. */
  private async afterLoss(lost: Promise<ControlClient>): Promise<void> {
    if (this.leaving.signal.aborted) throw new OrchestratorError('TMUX_LOST');
    await lost.then((client) => client.closed);
    await this.current;
  }

  private async use(client: ControlClient): Promise<ControlClient> {
    client.onOutput((paneId, data) => {
      for (const listener of this.outputListeners) listener(paneId, data);
    });
    client.onNotification((line) => {
      if (line.startsWith('pause ')) this.resume(client, line.slice('pause '.length));
      for (const listener of this.notificationListeners) listener(line);
    });
    void client.closed.then((reason) => {
      if (this.leaving.signal.aborted) return;
      this.current = this.reattach(reason);
      this.current.catch(() => undefined);
    });
    // pause-after: the server drops a pane's backlog instead of us when we are behind, and says so.
    await client
      .command('refresh-client', '-f', 'ignore-size,pause-after=5')
      .catch((error: unknown) =>
        this.options.logger.warn({ error: String(error) }, 'tmux knows no flow control'),
      );
    return client;
  }

  private resume(client: ControlClient, paneId: string): void {
    client.command('refresh-client', '-A', `${paneId}:continue`).then(
      () => this.options.onGap(paneId),
      () => undefined,
    );
  }

  private async reattach(reason: string): Promise<ControlClient> {
    const { clock, logger } = this.options;
    logger.warn({ reason }, 'the tmux connection ended; attaching again');
    for (let attempt = 0; ; attempt++) {
      await delay(clock, PAUSES_MS[Math.min(attempt, PAUSES_MS.length - 1)] ?? 0, this.leaving.signal);
      const existence = await this.options.existence();
      if (this.leaving.signal.aborted || existence === 'no') break;
      try {
        const client = await this.use(await this.options.attach());
        this.options.onReconnected();
        return client;
      } catch (error) {
        if (isSessionGone(error)) break;
        logger.warn({ error: String(error), existence }, 'could not attach to tmux');
      }
    }
    this.resolveClosed(reason);
    throw new OrchestratorError('TMUX_LOST');
  }
}

/** The server answered, and has no such session: that is certain. */
function isSessionGone(error: unknown): boolean {
  return (
    error instanceof OrchestratorError &&
    error.code === 'TMUX_FAILED' &&
    /can't find session|no sessions/.test(String(error.params['problem']))
  );
}
