import { dirname } from 'node:path';
import { listFolder, pathFacts } from '../../../platform/disk.js';
import { failed, ok, warning, type CheckRow, type Fix } from '../../doctor/row.js';
import { foreign, tooOpen } from '../../doctor/permissions.js';
import { checkDatabase, dataFolder, spaceAt } from '../../doctor/storage.js';
import type { PreflightDeps } from './deps.js';
import { currentUserId } from '../../../platform/paths.js';

const ELSEWHERE: Fix = { advice: 'name another database with --db, or mend this folder' };

/** Where agentd writes, and where its agents work. */
export async function checkPlaces({ database, wanted }: PreflightDeps): Promise<readonly CheckRow[]> {
  const work = await pathFacts(wanted.folder);
  const subject = { name: 'work folder', path: wanted.folder };
  return [
    await dataFolder(dirname(database), ELSEWHERE),
    work === null
      ? failed(subject, `${wanted.folder} is not there`, { advice: 'name another one with --default-cwd' })
      : ok(subject, wanted.folder),
  ];
}

/** Looked at through a copy: a schema that would be brought up to date stays as it is. */
export async function checkStore({ inspect, database }: PreflightDeps): Promise<readonly CheckRow[]> {
  return checkDatabase({ database: inspect, paths: { database } });
}

export async function checkLease({ inspect, port, ...deps }: PreflightDeps): Promise<readonly CheckRow[]> {
  const subject = { name: 'database lock', path: deps.database };
  const holder = (await inspect()).reader.lease(deps.lease);
  if (holder === null) return [ok(subject, 'nobody holds it')];
  const { pid } = holder;
  if (!deps.isAlive(holder))
    return [
      ok(subject, `left by an agentd that died (process ${pid}); the next one takes over what it left`),
    ];
  const at = await port();
  if (at.is === 'ours' && at.pid === pid)
    return [ok(subject, `held by the agentd that runs (process ${pid})`)];
  const advice = `use that one, stop it (kill ${pid}), or name another database with --db`;
  return [failed(subject, `held by another agentd that runs (process ${pid})`, { advice })];
}

export async function checkSpace({ database }: PreflightDeps): Promise<readonly CheckRow[]> {
  return [await spaceAt(dirname(database), 'free some disk space, or name a database elsewhere with --db')];
}

/** The token and what agents said are in there. */
export async function checkPermissions({ database, files }: PreflightDeps): Promise<readonly CheckRow[]> {
  const all = await Promise.all([database, `${database}-wal`, files].map(pathFacts));
  if (all[0]?.kind === 'directory') {
    const fix = { advice: 'name a file with --db' };
    return [failed({ name: 'permissions' }, `${database} is a folder, not a database`, fix)];
  }
  const found = [...all.filter((facts) => facts !== null), ...(await listFolder(files))];
  const mine = currentUserId();
  const rows = [
    ...foreign(found.filter(({ owner }) => owner !== mine)),
    ...tooOpen(found, 'directory'),
    ...tooOpen(found, 'file'),
  ];
  if (rows.length > 0) return rows;
  return [ok({ name: 'permissions' }, found.length === 0 ? 'nothing is there yet' : 'all yours alone')];
}

export async function checkPort({ port, wanted, database }: PreflightDeps): Promise<readonly CheckRow[]> {
  const place = `${wanted.host}:${wanted.port}`;
  const subject = { name: 'port' };
  const another: Fix = { advice: 'give another port with --port' };
  const state = await port();
  switch (state.is) {
    case 'free':
      return [ok(subject, wanted.port === 0 ? 'any free one' : `${place} is free`)];
    case 'ours':
      return state.database === database
        ? [
            ok(
              subject,
              `${place} is held by the agentd of this database (process ${state.pid}), which answers`,
            ),
          ]
        : [failed(subject, `${place} is held by an agentd with ${state.database}`, another)];
    case 'silent':
      return [
        failed(subject, `${place} is held by an agentd that does not answer (process ${state.pid})`, {
          advice: `agentctl daemon stop; if it stays: kill -9 ${state.pid}, nothing is lost by that`,
        }),
      ];
    case 'taken':
      return [failed(subject, `${place} is taken by ${state.by}`, another)];
    case 'refused':
      return [failed(subject, `${place} cannot be listened on: ${state.problem}`, another)];
  }
}

export async function checkAccess({ wanted }: PreflightDeps): Promise<readonly CheckRow[]> {
  const subject = { name: 'access' };
  if (wanted.hasToken) return [ok(subject, 'a token is asked for')];
  const advice = 'set AGENTD_AUTH_TOKEN, or listen on 127.0.0.1 only';
  if (!wanted.isLoopback)
    return [failed(subject, `others reach ${wanted.host}, and no token is set`, { advice })];
  return [warning(subject, 'no token is asked for (--insecure-no-auth)', { advice: 'leave that flag out' })];
}
