import { homedir, tmpdir, userInfo } from 'node:os';
import { existsSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';

type Environment = Readonly<Record<string, string | undefined>>;

export interface Paths {
  /** state.db, worktrees/, sessions/, imported/. Survives a reboot. */
  readonly data: string;
  readonly config: string;
  readonly cache: string;
  /** Daemon files, logs. */
  readonly state: string;
  /** Parent of the per-session convenience folders, usually /tmp. */
  readonly temp: string;
  readonly database: string;
}

/**
 * Where everything of ours lives (XDG). `AGENTORCHESTR_HOME` puts all of it into one folder; an existing
 * `~/.agentorchestr` of older installs is used as data and config root as it is, nothing is moved.
 */
export function resolvePaths(env: Environment): Paths {
  const home = env['HOME'] ?? homedir();
  const temp = resolve(env['TMPDIR'] ?? tmpdir());
  const own = env['AGENTORCHESTR_HOME'];
  if (own !== undefined && own !== '') return oneRoot(resolve(own), temp);
  const legacy = join(home, '.agentorchestr');
  if (existsSync(legacy)) return oneRoot(legacy, temp);
  const xdg = (name: string, fallback: string) => {
    const value = env[name];
    return join(value !== undefined && value.startsWith('/') ? value : join(home, fallback), 'agentorchestr');
  };
  const data = xdg('XDG_DATA_HOME', '.local/share');
  return {
    data,
    config: xdg('XDG_CONFIG_HOME', '.config'),
    cache: xdg('XDG_CACHE_HOME', '.cache'),
    state: xdg('XDG_STATE_HOME', '.local/state'),
    temp,
    database: join(data, 'state.db'),
  };
}

function oneRoot(root: string, temp: string): Paths {
  return {
    data: root,
    config: root,
    cache: join(root, 'cache'),
    state: join(root, 'state'),
    temp,
    database: join(root, 'state.db'),
  };
}

/** The session's convenience folder; its name is predictable, so `ensurePrivateDirectory` must check it. */
export function sessionDirectory(paths: Paths, sessionId: string): string {
  return join(paths.temp, `agentorchestr-${sessionId}`);
}

/** What must survive a reboot: control file, supervisor log, saved outputs. */
export function sessionDataDirectory(paths: Paths, sessionId: string): string {
  return join(paths.data, 'sessions', sessionId);
}

/** Folder of a session's worktrees; `repository` is the git common directory, named after its project for people. */
export function worktreesDirectory(paths: Paths, project: string, sessionId: string): string {
  return join(paths.data, 'worktrees', basename(project) || 'project', sessionId);
}

export function currentUserId(): number {
  return userInfo().uid;
}
