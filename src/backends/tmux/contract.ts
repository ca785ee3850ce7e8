/** What `--doctor` asks of tmux. Nothing that is not its own is changed or ended. */
export interface TmuxProbe {
  /** As it says it; null when it says nothing that looks like one. Throws TMUX_MISSING, TIMED_OUT. */
  version(): Promise<string | null>;
  /** Starts a server on a socket of its own, speaks with it and ends it. Throws TMUX_MISSING, TMUX_FAILED, TIMED_OUT. */
  tryControlMode(): Promise<void>;
  /** Servers of sessions: in the folder where tmux makes sockets now, and those of `known` that are there. */
  servers(known: readonly string[]): Promise<readonly FoundServer[]>;
}

export interface FoundServer {
  /** Absolute path. */
  readonly socket: string;
  readonly sessionId: string;
  /** Whether somebody listens; a socket file can be left without. */
  readonly listening: 'yes' | 'no' | 'unknown';
  /** A supervisor is connected to it, whichever database that one uses; null: cannot be told. */
  readonly supervised: boolean | null;
  /** A terminal or a supervisor is attached; null: cannot be told. */
  readonly watched: boolean | null;
}
