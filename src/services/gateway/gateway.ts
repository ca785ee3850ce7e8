import type { Clock } from '../../core/clock.js';
import type { EventOf } from '../../core/events/index.js';
import type { Logger } from '../../platform/logger.js';
import type { Store } from '../../store/contract.js';
import type { Slots } from '../engine/slots.js';
import type { AgentTable } from './agents.js';
import type { Conversations } from './conversations.js';
import type { RunWaits } from './run-waits.js';

export interface GatewaySettings {
  readonly version: string;
  /** Names this very process, also to whom only a port number is known. */
  readonly instanceId: string;
  readonly pid: number;
  readonly startedAt: string;
  readonly authEnabled: boolean;
  /** null: no agent that can be started was found. */
  readonly defaultProvider: string | null;
  readonly defaultFolder: string;
  /** Of a run that names none; null: no limit. */
  readonly runTimeoutMs: number | null;
  readonly maxSpawnDepth: number;
  /** Of one run, at work at the same time. */
  readonly maxChildren: number;
  /** A child's request that nobody answered for so long counts as denied; null: it waits for ever. */
  readonly escalationMs: number | null;
}

/** A child's word to its parent. */
export type Requested = EventOf<'escalation.requested'>;

/** Sees to it that nobody waits for an answer for ever; see `children/escalation-timers.ts`. */
export interface EscalationWatch {
  begin(event: Requested): void;
  recover(): void;
  close(): void;
}

/** What this machine says of a process. */
export interface ProcessFacts {
  isAlive(process: { readonly pid: number; readonly pidStartedAt: string }): boolean;
  /** Of it and everything it started, ms; null: it is not known. */
  cpuTime(pid: number): Promise<number | null>;
}

/** What every use case of the gateway gets: one database, its conversations, and the pool that their runs share. */
export interface Gateway {
  readonly settings: GatewaySettings;
  readonly store: Store;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly agents: AgentTable;
  readonly slots: Slots;
  readonly conversations: Conversations;
  readonly waits: RunWaits;
  readonly escalations: EscalationWatch;
  readonly processes: ProcessFacts;
  readonly isDraining: boolean;
  /** Without the secrets that this daemon knows, and what looks like one. */
  redact(text: string): string;
  /** A token, or what the daemon's environment calls a key: nothing that holds one is kept as it is. */
  holdsSecret(text: string): boolean;
  newId(): string;
  newSessionId(): string;
  /** The real path of a folder in which agents may work. Throws INVALID_INPUT, FOLDER_NOT_ALLOWED. */
  folder(path: string): Promise<string>;
}
