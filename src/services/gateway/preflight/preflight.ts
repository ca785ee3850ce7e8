import { runCheck } from '../../doctor/diagnose.js';
import type { CheckRow } from '../../doctor/row.js';
import { checkOptions, checkProviders } from './agents.js';
import type { PreflightCheck, PreflightDeps } from './deps.js';
import {
  checkAccess,
  checkLease,
  checkPermissions,
  checkPlaces,
  checkPort,
  checkSpace,
  checkStore,
} from './place.js';

export interface Preflight {
  /** false: agentd would not start, or could not do what it is started for. */
  readonly ok: boolean;
  readonly checks: readonly (Omit<CheckRow, 'fix'> & { readonly next_step: string | null })[];
}

/** Adding a check: one function that returns rows, and one line here. */
const CHECKS: readonly PreflightCheck[] = [
  { name: 'folders', run: checkPlaces },
  { name: 'database', run: checkStore },
  { name: 'database lock', run: checkLease },
  { name: 'disk space', run: checkSpace },
  { name: 'permissions', run: checkPermissions },
  { name: 'port', run: checkPort },
  { name: 'access', run: checkAccess },
  { name: 'agent options', run: checkOptions },
  { name: 'agents', run: checkProviders },
];

/** Whether agentd would start with these flags and could work; one line for each thing that was looked at. Changes nothing. */
export async function preflight(deps: PreflightDeps): Promise<Preflight> {
  const rows = (await Promise.all(CHECKS.map((check) => runCheck(check, deps)))).flat();
  const checks = rows.map(({ fix, ...row }) => ({
    ...row,
    next_step: fix === null ? null : 'command' in fix ? fix.command : fix.advice,
  }));
  return { ok: rows.every(({ state }) => state !== 'failed'), checks };
}
