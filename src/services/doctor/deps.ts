import type { TmuxProbe } from '../../backends/tmux/contract.js';
import type { Clock } from '../../core/clock.js';
import type { InstalledAgent } from '../../discovery/contract.js';
import type { GitProbe } from '../../git/contract.js';
import type { Paths } from '../../platform/paths.js';
import type { DatabaseInspection } from '../../store/contract.js';
import type { Area, CheckRow } from './row.js';

/** What checks stand on. Nothing here changes anything. */
export interface DoctorDeps {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  readonly paths: Paths;
  readonly node: { readonly version: string; readonly path: string; readonly engines: string };
  readonly git: GitProbe;
  readonly tmux: TmuxProbe;
  detectAgents(): Promise<readonly InstalledAgent[]>;
  /** The same inspection for all who ask. Throws STORE_UNAVAILABLE. */
  database(): Promise<DatabaseInspection>;
  /** Files of daemons that died without taking them away. */
  deadDaemons(): Promise<readonly { readonly path: string; readonly url: string }[]>;
  /** Opens a port on 127.0.0.1, asks it with and without a token, and closes it. Throws what went wrong. */
  tryMcp(signal: AbortSignal): Promise<{ readonly port: number }>;
}

export interface NamedCheck<Deps> {
  /** Stands for the check when it gives no answer. */
  readonly name: string;
  /** `signal` aborts when the time for checks is over; what comes later is not shown. */
  run(deps: Deps, signal: AbortSignal): Promise<readonly CheckRow[]>;
}

export interface Check extends NamedCheck<DoctorDeps> {
  readonly area: Area;
}
