import type { z } from 'zod';
import { EVIDENCE, type Evidence } from '../state/states.js';
import { gitEvents } from './git.js';
import { messageEvents } from './message.js';
import { runEvents } from './run.js';
import { sessionEvents } from './session.js';
import { workerEvents } from './worker.js';

export { wasStopped, type CommandResult } from './git.js';
export type { FrozenCommand } from './session.js';

/** The one event table (DESIGN §4). Adding an event: one entry in the file of its noun. */
export const EVENTS = {
  ...sessionEvents,
  ...workerEvents,
  ...messageEvents,
  ...runEvents,
  ...gitEvents,
} as const;

export type EventName = keyof typeof EVENTS;
export type EventData<Name extends EventName> = z.infer<(typeof EVENTS)[Name]['data']>;

export const EVENT_SOURCES = [
  'supervisor',
  'tmux',
  'headless',
  'hook',
  'mcp',
  'cli',
  'rest',
  'git',
  'recovery',
] as const;
export type EventSource = (typeof EVENT_SOURCES)[number];

interface Envelope {
  session_id: string;
  worker_id?: string;
  run_id?: string;
  source: EventSource;
  evidence: Evidence;
}

/** A fact about to be appended. `at` is set by the store from its clock when absent. */
export type NewEvent = {
  [Name in EventName]: Envelope & { type: Name; data: EventData<Name>; at?: string };
}[EventName];

/** A fact as it is stored and streamed. `seq` is gapless per database; ephemeral events carry `seq: null`. */
export type StoredEvent = {
  [Name in EventName]: Envelope & { type: Name; data: EventData<Name>; at: string; seq: number; v: number };
}[EventName];

/** Stored events of these names. */
export type EventOf<Name extends EventName> = Extract<StoredEvent, { type: Name }>;

export type EphemeralEvent = Omit<StoredEvent, 'seq'> & { seq: null };

/** Schema version of the envelope and of every entry; raised when a stored shape changes. */
export const EVENT_VERSION = 1;

/** Throws a plain Error (a fault of ours) when the data does not match the table. */
export function checkEvent(candidate: NewEvent): void {
  EVENTS[candidate.type].data.parse(candidate.data);
  if (!EVIDENCE.includes(candidate.evidence)) throw new Error(`unknown evidence ${candidate.evidence}`);
}

export function isDurable(name: EventName): boolean {
  return EVENTS[name].durable;
}
