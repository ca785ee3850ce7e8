import type { AgentAdapter } from '../agents/contract.js';

/** An agent that can be found on this machine. */
export interface InstalledAgent {
  readonly adapter: AgentAdapter;
  /** Absolute path. */
  readonly binary: string;
  /** First line its version probe printed, at most 40 characters; `unknown` when it failed or took too long. */
  readonly version: string;
}
