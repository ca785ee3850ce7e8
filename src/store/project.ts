import type { StoredEvent } from '../core/events/index.js';
import {
  CHANGES_NO_ROW,
  PROJECTIONS,
  type Projection,
  type Rows,
  type TableName,
} from '../core/state/projections.js';
import { TERMINAL_EVENTS } from '../core/state/fold-run.js';
import { isTerminalRun } from '../core/state/states.js';
import { TABLE_NAMES, type Table, type Tables } from './table.js';

/** Folds one event into every row it touches. Used on append and on rebuild, so both give the same rows. */
export function project(tables: Tables, event: StoredEvent): void {
  if (CHANGES_NO_ROW.has(event.type)) return;
  for (const name of TABLE_NAMES) projectInto(tables, name, event);
}

function projectInto<Name extends TableName>(tables: Tables, name: Name, event: StoredEvent): void {
  const table: Table<Rows[Name]> = tables[name];
  const projection: Projection<Rows[Name]> = PROJECTIONS[name];
  const key = projection.keyOf(event);
  if (key === null) return;
  const row = table.find(key);
  const next = projection.fold(row, event);
  if (next !== null && next !== row) table.put(next);
}

/** The compare of compare-and-set: an ended run cannot end again. */
export function refuseSecondEnd(tables: Tables, event: { type: string; run_id?: string }): void {
  if (!(event.type in TERMINAL_EVENTS) || event.run_id === undefined) return;
  const run = tables.runs.find([event.run_id]);
  if (run !== null && isTerminalRun(run.state))
    throw new Error(`run ${run.run_id} has already ended (${run.state}); ${event.type} came second`);
}
