import { delay, type Clock } from '../../core/clock.js';
import { toOrchestratorError } from '../../core/errors/error.js';
import { CHECKS } from './checks.js';
import type { Check, DoctorDeps, NamedCheck } from './deps.js';
import { AREAS, unknown, type Area, type CheckRow } from './row.js';

export interface Diagnosis {
  /** false: something fatal is missing. */
  readonly healthy: boolean;
  /** In the order of areas and of the checks in them; areas without rows are left out. */
  readonly areas: readonly { readonly area: Area; readonly rows: readonly CheckRow[] }[];
}

/** Longer than any check's own limits, so that those tell what did not answer. */
const LIMIT_MS = 9_000;

/** Runs every check, all at the same time; one that hangs or breaks is a row that says so. */
export async function diagnose(deps: DoctorDeps, checks: readonly Check[] = CHECKS): Promise<Diagnosis> {
  const rows = await Promise.all(checks.map((check) => runCheck(check, deps)));
  const areas = AREAS.map((area) => ({
    area,
    rows: rows.flatMap((found, index) => (checks[index]?.area === area ? found : [])),
  }));
  return {
    healthy: rows.flat().every(({ state }) => state !== 'failed'),
    areas: areas.filter((entry) => entry.rows.length > 0),
  };
}

export async function runCheck<Deps extends { readonly clock: Clock }>(
  check: NamedCheck<Deps>,
  deps: Deps,
): Promise<readonly CheckRow[]> {
  const over = new AbortController();
  const settled = new AbortController();
  const late = delay(deps.clock, LIMIT_MS, settled.signal).then(() => {
    over.abort();
    const found = `no answer within ${LIMIT_MS / 1_000} s`;
    return [unknown({ name: check.name }, found, { advice: 'find out what hangs, then look again' })];
  });
  try {
    return await Promise.race([check.run(deps, over.signal), late]);
  } catch (thrown) {
    const { code, message, hint } = toOrchestratorError(thrown);
    // Why it cannot is said once, by the check of the database.
    if (code === 'STORE_UNAVAILABLE')
      return [
        unknown({ name: check.name }, 'the database cannot be read', { advice: 'mend the database first' }),
      ];
    return [unknown({ name: check.name }, message, { advice: hint ?? 'look again; if it stays, report it' })];
  } finally {
    settled.abort();
  }
}
