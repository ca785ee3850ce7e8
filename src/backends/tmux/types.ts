/**
 * What the parts of the tmux room share. Panes are `%n`, windows `@n`, sessions `$n`; nothing else names a target.
 */
export interface ControlClient {
  /**
   * Runs one tmux command over the control connection; each argument is quoted by us (any text is safe, NUL excepted).
   * Resolves with the answer's lines as bytes decoded UTF-8; throws TMUX_FAILED with tmux's own words, TMUX_LOST when
   * the server is gone. Answers come in order; calls may be pipelined without awaiting.
   */
  command(...args: readonly string[]): Promise<readonly string[]>;
  /** Raw `%output` of every pane: `data` still has tmux's `\ooo` escapes. Called synchronously; never block. */
  onOutput(listener: (paneId: string, data: Buffer) => void): () => void;
  /** Every other notification line without its leading `%`, e.g. `layout-change @1 …`. */
  onNotification(listener: (line: string) => void): () => void;
  /** Resolves once, when the connection is over, with the reason tmux gave or the process's end. */
  readonly closed: Promise<string>;
  /** Leaves the server running. */
  detach(): Promise<void>;
}

/** Three-valued: an error is `unknown`, and unknown never reaps anything. */
export type Existence = 'yes' | 'no' | 'unknown';
