import { dirname, join } from 'node:path';
import { OrchestratorError } from '../../core/errors/error.js';
import { diskUse, freeBytes, nearestExisting, pathFacts } from '../../platform/disk.js';
import { currentUserId, type Paths } from '../../platform/paths.js';
import { shellQuote } from '../../platform/shell-quote.js';
import type { DoctorDeps } from './deps.js';
import { failed, ok, unknown, warning, type CheckRow, type Fix } from './row.js';

const WARN_BELOW_BYTES = 1_000_000_000;
/** No database and no commit fits any more. */
const FAIL_BELOW_BYTES = 50_000_000;

const ELSEWHERE: Fix = { advice: 'set AGENTORCHESTR_HOME to a folder that you may write, or mend this one' };

export async function checkFolders({ paths }: DoctorDeps): Promise<readonly CheckRow[]> {
  const temp = await pathFacts(paths.temp);
  const usable = temp !== null && temp.writable && (temp.kind === 'directory' || temp.kind === 'link');
  const advice = 'set TMPDIR to a folder that you may write, or unset it';
  return [
    await dataFolder(paths.data),
    ...(usable
      ? []
      : [failed({ name: 'temp folder', path: paths.temp }, `${paths.temp} cannot be used`, { advice })]),
  ];
}

/** As the product itself would take or refuse it. */
export async function dataFolder(data: string, elsewhere: Fix = ELSEWHERE): Promise<CheckRow> {
  const subject = { name: 'data folder', path: data };
  const facts = await pathFacts(data);
  if (facts === null) {
    const above = await nearestExisting(dirname(data));
    if (above.kind !== 'directory')
      return failed(subject, `${data} cannot be made: ${above.path} is not a folder`, elsewhere);
    if (!above.writable)
      return failed(subject, `${data} cannot be made: ${above.path} cannot be written`, elsewhere);
    return ok(subject, `${data} will be made`);
  }
  if (facts.kind === 'link')
    return failed(subject, `${data} is a symbolic link, which is refused`, elsewhere);
  if (facts.kind !== 'directory') return failed(subject, `${data} is not a folder`, elsewhere);
  if (facts.owner !== currentUserId())
    return failed(subject, `${data} belongs to user ${facts.owner}`, elsewhere);
  if (!facts.writable) return failed(subject, `${data} cannot be written`, elsewhere);
  return ok(subject, data);
}

export async function checkDatabase({
  database,
  paths,
}: Pick<DoctorDeps, 'database'> & { readonly paths: Pick<Paths, 'database'> }): Promise<readonly CheckRow[]> {
  const subject = { name: 'database', path: paths.database };
  try {
    const { exists, schema, newestSchema, damage } = await database();
    if (!exists) return [ok(subject, 'SQLite loads; no database yet')];
    if (damage.length > 0)
      return [
        failed(subject, `${paths.database} is damaged: ${damage.join('; ')}`, setAside(paths.database)),
      ];
    const [file, log] = await Promise.all([paths.database, `${paths.database}-wal`].map(pathFacts));
    if (file?.writable === false)
      return [failed(subject, `${paths.database} cannot be written`, chmod('600', [paths.database]))];
    const version =
      schema === newestSchema ? `schema ${schema}` : `schema ${schema}, becomes ${newestSchema}`;
    const size = sizeOf((file?.sizeBytes ?? 0) + (log?.sizeBytes ?? 0));
    return [
      ok({ ...subject, version: String(schema) }, `${version}, ${size}; its quick check finds no fault`),
    ];
  } catch (error) {
    if (!(error instanceof OrchestratorError) || error.code !== 'STORE_UNAVAILABLE') throw error;
    const advice = { advice: error.hint ?? 'look at the file' };
    // Only looking at it failed; nothing says that it is not usable.
    if (error.params['unseen'] === true) return [unknown(subject, error.message, advice)];
    return [failed(subject, error.message, advice)];
  }
}

export async function checkSpace({ paths }: DoctorDeps, signal: AbortSignal): Promise<readonly CheckRow[]> {
  const worktrees = join(paths.data, 'worktrees');
  const [data, trees] = await Promise.all([nearestExisting(paths.data), nearestExisting(worktrees)]);
  const places = data.device === trees.device ? [paths.data] : [paths.data, worktrees];
  const rows = await Promise.all(places.map((place) => spaceAt(place)));
  return [...rows, ...(await kept(paths.data, signal))];
}

export async function spaceAt(
  path: string,
  advice = 'free some disk space, or move AGENTORCHESTR_HOME to a larger disk',
): Promise<CheckRow> {
  const free = await freeBytes((await nearestExisting(path)).path);
  const subject = { name: 'disk space', path };
  const found = `${sizeOf(free)} free at ${path}`;
  if (free < FAIL_BELOW_BYTES) return failed(subject, found, { advice });
  return free < WARN_BELOW_BYTES ? warning(subject, found, { advice }) : ok(subject, found);
}

async function kept(data: string, signal: AbortSignal): Promise<CheckRow[]> {
  if ((await pathFacts(data)) === null) return [];
  const [all, trees] = await Promise.all([
    diskUse([data], { signal }),
    diskUse([join(data, 'worktrees')], { signal }),
  ]);
  const most = all.complete ? '' : 'at least ';
  const found = `${most}${sizeOf(all.bytes)}, ${sizeOf(trees.bytes)} of it worktrees`;
  return [ok({ name: 'what we keep', path: data }, found)];
}

function sizeOf(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'] as const;
  let [value, unit] = [bytes, 0];
  for (; value >= 1_000 && unit < units.length - 1; unit++) value /= 1_000;
  return `${value < 10 && unit > 0 ? value.toFixed(1) : Math.round(value)} ${units[unit]}`;
}

export function chmod(mode: string, paths: readonly string[]): { readonly command: string } {
  return { command: `chmod ${mode} ${paths.map(shellQuote).join(' ')}` };
}

function setAside(database: string): Fix {
  const files = ['', '-wal', '-shm'].map((end) => `${database}${end}`).join(', ');
  return { advice: `move ${files} away; branches and worktrees are in git and stay as they are` };
}
