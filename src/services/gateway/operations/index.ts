import type { GatewayOperation } from '../operation.js';
import { daemonStatus } from './daemon.js';
import { diagnoseOneRun } from './diagnose.js';
import { listEscalations, replyToParent, sendToSession, spawnSession } from './children.js';
import { listEvents } from './events.js';
import { cancelRun, createRun, getRun, sendMessage, waitForRun } from './runs.js';
import {
  archiveSession,
  createSession,
  getSession,
  listMessages,
  listSessions,
  updateSession,
} from './sessions.js';
import { transitionOfRun } from './transition.js';

/** Everything that the gateway can do. Adding one: one entry here; its door, OpenAPI included, follows. */
export const GATEWAY_OPERATIONS: readonly GatewayOperation[] = [
  createSession,
  listSessions,
  getSession,
  updateSession,
  archiveSession,
  sendMessage,
  listMessages,
  listEvents,
  createRun,
  getRun,
  waitForRun,
  cancelRun,
  transitionOfRun,
  diagnoseOneRun,
  spawnSession,
  sendToSession,
  replyToParent,
  listEscalations,
  daemonStatus,
];
