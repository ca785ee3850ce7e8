import type { InteractiveLaunch } from '../../agents/contract.js';
import type { StartSpec, TurnSpec } from '../contract.js';

const PREFIX = 'view-';

/** The pane of an agent that has no terminal shows what it says, as text that people can read. */
export function viewerOf(spec: TurnSpec, log: string): StartSpec {
  return {
    workerId: spec.workerId,
    attemptId: `${PREFIX}${spec.workerId}`,
    role: spec.role,
    label: spec.label,
    cwd: spec.directory,
    directory: spec.directory,
    argv: ['tail', '-n', '+1', '-F', log],
    env: {},
    launch: SHOWS_ONLY,
  };
}

export function isViewer(attemptId: string): boolean {
  return attemptId.startsWith(PREFIX);
}

/** Nothing is ever typed into it, and nothing it shows means anything. */
const SHOWS_ONLY: InteractiveLaunch = {
  argv: () => [],
  readyTimeoutMs: 0,
  screen: { recordedVersion: '1', states: [], tailRows: 1, composer: () => null },
  keys: { submit: 'Enter', interrupt: 'Escape', redrawCapMs: 0, submitDelayMs: 0 },
  steers: false,
  paste: null,
  hooks: null,
  transcript: null,
  resumeErrors: null,
  mcpCallLimitMs: 0,
  toolsAtStart: false,
};
