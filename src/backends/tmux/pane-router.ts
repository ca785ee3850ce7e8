/** Enough for all that a program draws before its pane is known; more is not kept. */
const EARLY_BYTES = 1_000_000;

/** Whoever watches a pane. */
export interface PaneListener {
  onOutput(data: Buffer): void;
  /** Some output never came, or comes no more. */
  onMissedOutput(): void;
}

/**
 * Brings output to whoever watches its pane. A pane's first output may arrive in the same chunk as the answer that names
 * the pane: while a start is under way, output of unknown panes is kept and handed to the first that asks for it.
 */
export class PaneRouter {
  private readonly routes = new Map<string, PaneListener>();
  private readonly early = new Map<string, Buffer[]>();
  private earlyBytes = 0;
  private starts = 0;

  readonly output = (paneId: string, data: Buffer): void => {
    const route = this.routes.get(paneId);
    if (route !== undefined) return route.onOutput(data);
    if (this.starts === 0 || this.earlyBytes + data.length > EARLY_BYTES) return;
    this.earlyBytes += data.length;
    // A copy: `data` is a view of a chunk that may be much larger.
    this.early.set(paneId, [...(this.early.get(paneId) ?? []), Buffer.from(data)]);
  };

  readonly gap = (paneId: string): void => this.routes.get(paneId)?.onMissedOutput();

  gapEverywhere(): void {
    for (const route of this.routes.values()) route.onMissedOutput();
  }

  /** Keeps early output until the returned function is called. */
  beginStart(): () => void {
    this.starts++;
    return () => {
      if (--this.starts > 0) return;
      this.early.clear();
      this.earlyBytes = 0;
    };
  }

  add(paneId: string, listener: PaneListener): void {
    this.routes.set(paneId, listener);
    for (const data of this.early.get(paneId) ?? []) listener.onOutput(data);
    this.early.delete(paneId);
  }

  remove(paneId: string): void {
    this.routes.delete(paneId);
  }
}
