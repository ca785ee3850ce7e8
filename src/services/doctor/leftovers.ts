import { basename, dirname, join, relative } from 'node:path';
import type { FoundServer } from '../../backends/tmux/contract.js';
import { listFolder, pathFacts } from '../../platform/disk.js';
import { processStartTime } from '../../platform/identity.js';
import { shellQuote } from '../../platform/shell-quote.js';
import type { Reader } from '../../store/contract.js';
import type { DoctorDeps } from './deps.js';
import { atMost, ok, unknown, warning, type CheckRow } from './row.js';
import { sessionsOf, type SeenSession } from './sessions.js';

/** tmux servers of ours whose session is over or unknown, and sockets that nobody listens on. */
export async function checkServers({ tmux, database }: DoctorDeps): Promise<readonly CheckRow[]> {
  const sessions = sessionsOf((await database()).reader);
  const known = sessions.map(({ row }) => row.tmux_socket).filter((socket) => socket !== null);
  const servers = await tmux.servers(known);
  const byId = new Map(sessions.map((session) => [session.row.session_id, session]));
  const rows = servers.flatMap((server) => serverRow(server, byId.get(server.sessionId)));
  if (rows.length > 0) return atMost(rows, 'tmux servers');
  const alive = servers.filter(({ listening }) => listening === 'yes').length;
  return [
    ok(
      { name: 'tmux servers' },
      alive === 0 ? 'none was left behind' : `${alive} in use; none was left behind`,
    ),
  ];
}

function serverRow(server: FoundServer, session: SeenSession | undefined): CheckRow[] {
  const { socket, sessionId, listening, supervised, watched } = server;
  const subject = { name: 'tmux servers', path: socket };
  if (listening === 'unknown')
    return [
      unknown(subject, `${socket} does not say whether it is used`, {
        command: `ls -l ${shellQuote(socket)}`,
      }),
    ];
  if (listening === 'no')
    return [
      warning(subject, `${socket} is left of a server that is gone`, {
        command: `rm ${shellQuote(socket)}`,
        mend: { kind: 'dead socket', socket, does: 'remove the socket' },
      }),
    ];
  // A session that is not over is taken up with its server; that it crashed, its own row says.
  if (session !== undefined && ['active', 'crashed', 'paused'].includes(session.shown)) return [];
  const command = `tmux -S ${shellQuote(socket)} kill-server`;
  if (session !== undefined) {
    const isDone = session.shown === 'done';
    const kept = `the panes of session ${sessionId} (${session.shown}) are still kept`;
    const way = isDone ? '' : `; go on with it (agentorchestr --resume ${sessionId}) or give it up`;
    const fix = `agentorchestr clean ${sessionId}${isDone ? '' : ' --give-up'}`;
    // Its work is over and was handed back; what is on its panes is for those who still look.
    const isDead = isDone && watched === false;
    const mend = { kind: 'unwatched server', socket, does: 'end the tmux server' } as const;
    return [warning(subject, `${kept}${way}`, { command: fix, ...(isDead ? { mend } : {}) })];
  }
  // Of another database, and at work there.
  if (supervised === true) return [];
  const found = `a tmux server of session ${sessionId}, which this database does not know, has no supervisor`;
  return [warning(subject, found, { command })];
}

/** Agents that run on although their session is over. */
export async function checkProcesses({ database }: DoctorDeps): Promise<readonly CheckRow[]> {
  const { reader } = await database();
  const over = sessionsOf(reader).filter(({ shown }) => shown !== 'active' && shown !== 'crashed');
  const rows = over.flatMap(({ row }) =>
    reader
      .attempts(row.session_id)
      .filter(({ state }) => state !== 'ended')
      .filter(({ pid, pid_started_at: at }) => pid !== null && at !== null && processStartTime(pid) === at)
      .map(({ worker_id: worker, pid, pid_started_at: at }) =>
        warning({ name: 'processes' }, `${worker} of session ${row.session_id} (${row.state}) runs on`, {
          command: `kill ${pid}`,
          // Whoever goes on with another session may find its agents alive.
          ...(row.state === 'done' && pid !== null && at !== null
            ? { mend: { kind: 'process', process: { pid, pidStartedAt: at }, does: 'end the process' } }
            : {}),
        }),
      ),
  );
  return rows.length > 0 ? atMost(rows, 'processes') : [];
}

/** Files that say where an agentd listens which does not live any more. */
export async function checkDaemons({ deadDaemons }: DoctorDeps): Promise<readonly CheckRow[]> {
  const rows = (await deadDaemons()).map(({ path, url }) =>
    warning({ name: 'daemons', path }, `${path} is left of an agentd at ${url} that died`, {
      command: `rm ${shellQuote(path)}`,
      mend: { kind: 'dead daemon', path, does: 'remove the file' },
    }),
  );
  return rows.length > 0 ? atMost(rows, 'daemons') : [];
}

/** Worktrees without a session, entries in repositories without a folder. What is in them may be work: nothing is forced. */
export async function checkWorktrees({ database, git, paths }: DoctorDeps): Promise<readonly CheckRow[]> {
  const { reader } = await database();
  const sessions = new Set(sessionsOf(reader).map(({ row }) => row.session_id));
  const root = join(paths.data, 'worktrees');
  const [folders, entries] = await Promise.all([
    foldersWithout(sessions, root, git),
    entriesWithout(reader, root, git),
  ]);
  const rows = [...folders.rows, ...entries];
  if (rows.length > 0) return atMost(rows, 'worktrees');
  return [
    ok(
      { name: 'worktrees' },
      folders.seen === 0 ? 'none was left behind' : `${folders.seen} of known sessions; none was left behind`,
    ),
  ];
}

async function foldersWithout(
  sessions: ReadonlySet<string>,
  root: string,
  git: DoctorDeps['git'],
): Promise<{ seen: number; rows: CheckRow[] }> {
  const projects = await listFolder(root);
  const perSession = (await Promise.all(projects.map(({ path }) => listFolder(path)))).flat();
  const isKnown = ({ path }: { path: string }) => sessions.has(basename(path));
  const seen = await Promise.all(perSession.filter(isKnown).map(({ path }) => listFolder(path)));
  const left = perSession.filter((folder) => !isKnown(folder));
  const rows = await Promise.all(left.map(({ path }) => leftFolders(path, git)));
  return { seen: seen.flat().length, rows: rows.flat() };
}

async function leftFolders(session: string, git: DoctorDeps['git']): Promise<CheckRow[]> {
  const trees = (await listFolder(session)).filter(({ kind }) => kind === 'directory');
  if (trees.length === 0)
    return [
      warning({ name: 'worktrees', path: session }, `${session} is empty, of no known session`, {
        command: `rmdir ${shellQuote(session)}`,
        mend: { kind: 'empty folder', path: session, does: 'remove the empty folder' },
      }),
    ];
  return Promise.all(trees.map(({ path }) => leftTree(path, git)));
}

async function leftTree(path: string, git: DoctorDeps['git']): Promise<CheckRow> {
  const subject = { name: 'worktrees', path };
  const place = await git.worktreeOf(path);
  if (place?.registered === true)
    // Without --force: git refuses where something is not committed.
    return warning(subject, `${path} is a worktree of no known session`, {
      command: `git -C ${shellQuote(place.repository)} worktree remove ${shellQuote(path)}`,
    });
  return warning(subject, `${path} belongs to no known session and to no repository`, {
    advice: `look for work in it, then: rm -r ${shellQuote(path)}`,
  });
}

async function entriesWithout(reader: Reader, root: string, git: DoctorDeps['git']): Promise<CheckRow[]> {
  const repositories = [...new Set(sessionsOf(reader).map(({ row }) => row.repository))];
  const rows = await Promise.all(
    repositories.map(async (repository) => {
      if (repository === '' || (await pathFacts(repository)) === null) return [];
      const gone = (await git.registered(repository)).filter(
        ({ path, isThere }) => !isThere && !relative(root, path).startsWith('..'),
      );
      return gone.map(({ path }) =>
        warning({ name: 'worktrees', path }, `${dirname(path)} lost its worktree ${basename(path)}`, {
          command: `git -C ${shellQuote(repository)} worktree prune`,
        }),
      );
    }),
  );
  return rows.flat();
}
