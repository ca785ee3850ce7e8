import type { Clock } from '../../core/clock.js';
import type { EnvironmentRules } from '../../platform/launch/environment.js';
import type { Logger } from '../../platform/logger.js';
import type { WindowSize } from './layout.js';

export interface TmuxBackendOptions extends EnvironmentRules {
  readonly sessionId: string;
  /** First part of the socket's name: `agentorchestr`, or what AGENTORCHESTR_TMUX_SOCKET says. */
  readonly socketPrefix: string;
  /** Private runtime folder of the session: configuration, buffers, the panes' own TMUX_TMPDIR. */
  readonly directory: string;
  /** The user's environment; the server, and so every agent, starts with what the rules leave of it. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** The terminal that is about to attach; null when there is none. */
  readonly terminal: WindowSize | null;
  /** false: no lead will come, and the first place is for whoever does. Default true. */
  readonly hasLead?: boolean;
  /** A person's own tmux configuration, read on top of ours. */
  readonly userConfig?: string;
  /** How long the end of the session stands before viewers who touch nothing are let go, ms. */
  readonly readingMs: number;
}
