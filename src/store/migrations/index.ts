import { sql as initial } from './0001-initial.js';
import { sql as attention } from './0002-attention.js';
import { sql as transcriptPath } from './0003-transcript-path.js';
import { sql as runLimits } from './0004-run-limits.js';
import { sql as fallbacks } from './0005-fallbacks.js';
import { sql as cleaned } from './0006-cleaned.js';
import { sql as stalled } from './0007-stalled.js';
import { sql as executor } from './0008-executor.js';
import { sql as eventsByType } from './0009-events-by-type.js';
import { sql as openRuns } from './0010-open-runs.js';
import { sql as switchedAgents } from './0011-switched-agents.js';

export interface Migration {
  readonly version: number;
  readonly name: string;
  readonly sql: string;
}

/**
 * Every schema change, oldest first; forward only. SQL in modules rather than .sql files, so that the compiler
 * carries it into the build by itself.
 */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: 'initial', sql: initial },
  { version: 2, name: 'attention', sql: attention },
  { version: 3, name: 'transcript-path', sql: transcriptPath },
  { version: 4, name: 'run-limits', sql: runLimits },
  { version: 5, name: 'fallbacks', sql: fallbacks },
  { version: 6, name: 'cleaned', sql: cleaned },
  { version: 7, name: 'stalled', sql: stalled },
  { version: 8, name: 'executor', sql: executor },
  { version: 9, name: 'events-by-type', sql: eventsByType },
  { version: 10, name: 'open-runs', sql: openRuns },
  { version: 11, name: 'switched-agents', sql: switchedAgents },
];
