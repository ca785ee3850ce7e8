import { OrchestratorError } from '../../../core/errors/error.js';
import { isTerminalRun } from '../../../core/state/states.js';
import type { RunRow, SessionRow } from '../../../core/state/rows.js';
import type { Reader } from '../../../store/contract.js';
import type { Caller } from '../../operation.js';
import { findConversation, optionsOf } from '../conversation-row.js';

/** The sessions that runs of this one spawned, oldest first. */
export function childrenOf(reader: Reader, sessionId: string): SessionRow[] {
  return reader
    .events({ after: 0, sessionId, types: ['child.spawned'] })
    .flatMap(({ data }) => reader.session(data.child) ?? []);
}

/** These sessions and all that are below them; once there are more than `most`, perhaps not all. */
export function withAllBelow(reader: Reader, sessionIds: readonly string[], most: number): string[] {
  const all = new Set(sessionIds);
  // What is added while a set is walked is walked too.
  for (const sessionId of all) {
    if (all.size > most) break;
    for (const { data } of reader.events({ after: 0, sessionId, types: ['child.spawned'] }))
      all.add(data.child);
  }
  return [...all];
}

/** Runs of children that are not over and that this run asked for, by spawning their session or by sending to it. */
export function openRunsBelow(reader: Reader, run: RunRow): RunRow[] {
  return childrenOf(reader, run.session_id).flatMap((child) => {
    const isItsOwn = optionsOf(child).parent?.run_id === run.run_id;
    return reader
      .runs(child.session_id)
      .filter(({ state }) => !isTerminalRun(state))
      .filter(({ parent_run_id: parent }) => isItsOwn || parent === run.run_id);
  });
}

/** Whether the session is somewhere below that one. */
export function isBelow(reader: Reader, sessionId: string, ancestorId: string): boolean {
  for (let at: string | null = sessionId, steps = 0; at !== null && steps < 1_000; steps += 1) {
    const row = reader.session(at);
    at = row?.kind === 'conversation' ? (optionsOf(row).parent?.session_id ?? null) : null;
    if (at === ancestorId) return true;
  }
  return false;
}

/** What a call names: by the fields of its input, checked or not yet. */
export interface Target {
  readonly session_id?: unknown;
  readonly run_id?: unknown;
}

/**
 * An agent acts for its own run (`own`), or on what is below its session (`below`): a later run of the same conversation
 * has to answer the children of an earlier one. Throws FORBIDDEN; a target that is not there is none of an agent's too.
 */
export function checkReach(
  reader: Reader,
  caller: Caller,
  { name, reach, target }: { name: string; reach: 'own' | 'below'; target: Target },
): void {
  if (caller.scope !== 'run') return;
  const own = caller.runId === undefined ? null : reader.run(caller.runId);
  if (own !== null && reach === 'own' && target.run_id === own.run_id) return;
  if (own !== null && reach === 'below') {
    const named = [
      ...(target.session_id === undefined
        ? []
        : [typeof target.session_id === 'string' ? target.session_id : '']),
      ...(target.run_id === undefined
        ? []
        : [typeof target.run_id === 'string' ? (reader.run(target.run_id)?.session_id ?? '') : '']),
    ];
    if (named.length > 0 && named.every((id) => isBelow(reader, id, own.session_id))) return;
  }
  throw new OrchestratorError('FORBIDDEN', {
    scope: `run:${caller.runId ?? ''}`,
    operation: `${name} there`,
    allowed: ['spawn and reply_parent of its own run', 'send, wait and read of the sessions below its own'],
  });
}

export function depthBelow(reader: Reader, sessionId: string): number {
  return optionsOf(findConversation(reader, sessionId)).depth + 1;
}
