import type { AgentAdapter } from '../../../agents/contract.js';
import type { Clock } from '../../../core/clock.js';
import type { InstalledAgent } from '../../../discovery/contract.js';
import type { DatabaseInspection, LeaseOwner } from '../../../store/contract.js';
import type { NamedCheck } from '../../doctor/deps.js';

/** What the checks before a start stand on. Nothing here changes anything. */
export interface PreflightDeps {
  readonly clock: Clock;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** As agentd would be started. */
  readonly wanted: {
    readonly host: string;
    readonly port: number;
    readonly hasToken: boolean;
    readonly isLoopback: boolean;
    readonly provider: string | null;
    readonly folder: string;
    readonly agentOptions: Readonly<Record<string, Readonly<Record<string, string>>>>;
  };
  /** Absolute. */
  readonly database: string;
  /** The folder of the daemon's own files beside it. */
  readonly files: string;
  readonly agents: readonly AgentAdapter[];
  /** Of these agents, those that are on this machine. */
  detect(names: readonly string[]): Promise<readonly InstalledAgent[]>;
  /** The same inspection for all who ask. Throws STORE_UNAVAILABLE. */
  inspect(): Promise<DatabaseInspection>;
  /** The name under which a daemon holds its database, and whether that process lives. */
  readonly lease: string;
  isAlive(owner: LeaseOwner): boolean;
  /** The same answer for all who ask. */
  port(): Promise<PortState>;
  /** Throws what is wrong in what is set for agents. */
  checkOptions(): Promise<unknown>;
}

export type PortState =
  | { readonly is: 'free' }
  /** A daemon of this user listens there and answers. */
  | { readonly is: 'ours'; readonly pid: number; readonly database: string }
  /** A daemon of this user listens there and does not answer. */
  | { readonly is: 'silent'; readonly pid: number }
  | { readonly is: 'taken'; readonly by: string }
  | { readonly is: 'refused'; readonly problem: string };

export type PreflightCheck = NamedCheck<PreflightDeps>;
