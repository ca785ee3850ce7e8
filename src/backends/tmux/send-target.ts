import type { InteractiveLaunch } from '../../agents/contract.js';
import type { Clock } from '../../core/clock.js';
import type { PaneView } from './pane-view.js';
import type { Pulse } from './pulse.js';
import type { ControlClient } from './types.js';
import type { PaneWatcher } from './watcher.js';

/** The pane as a sender needs it. */
export interface SendTarget {
  readonly client: ControlClient;
  readonly paneId: string;
  readonly view: PaneView;
  readonly watcher: PaneWatcher;
  /** Beats on output of the pane, when its mode changes, and when it ends. */
  readonly activity: Pulse;
  readonly clock: Clock;
  readonly launch: InteractiveLaunch;
  /** Private folder for the files that large texts travel in. */
  readonly bufferDirectory: string;
  /** Why nothing can be typed any more; null while it can. */
  readonly ended: () => string | null;
  readonly hasBracketedPaste: () => boolean;
  /** Since when the pane is in copy-mode or another mode; null when it is not known to be. */
  readonly modeSince: () => number | null;
  /** Whoever presses keys has the pane for itself from the look to the proof. */
  readonly atTheKeys: <T>(work: () => Promise<T>) => Promise<T>;
}
