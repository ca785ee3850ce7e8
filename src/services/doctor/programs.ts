import { CATALOG, type ErrorCode } from '../../core/errors/catalog.js';
import { OrchestratorError } from '../../core/errors/error.js';
import type { GitFeatures } from '../../git/contract.js';
import { findProgram } from '../../platform/find-program.js';
import type { DoctorDeps } from './deps.js';
import { failed, ok, unknown, warning, type CheckRow, type Fix } from './row.js';
import { compareVersions, versionIn } from './versions.js';

/** Below these, commands that we rest on are missing. */
const OLDEST_GIT = [2, 30];
const OLDEST_TMUX = [3, 0];
/** Below this, tmux cannot hold back the output of a pane that we are slow to read. */
const TMUX_WITH_FLOW_CONTROL = [3, 2];

export function checkNode({ node }: DoctorDeps): Promise<readonly CheckRow[]> {
  const { version, path, engines } = node;
  const subject = { name: 'Node.js', version, path };
  const isOld = compareVersions(versionIn(version) ?? [], versionIn(engines) ?? []) < 0;
  return Promise.resolve([
    isOld
      ? failed(subject, `${version} at ${path}, needed is ${engines}`, {
          advice: `install Node.js ${engines}: https://nodejs.org, or your version manager`,
        })
      : ok(subject, `${version} at ${path}`),
  ]);
}

export async function checkGit({ git, env }: DoctorDeps): Promise<readonly CheckRow[]> {
  try {
    const [features, path] = await Promise.all([git.features(), findProgram(['git'], env)]);
    const { version, worktrees, mergeInMemory } = features;
    const subject = { name: 'git', version, path };
    const place = `${version ?? 'of unknown version'} at ${path ?? 'an unknown place'}`;
    const numbers = versionIn(version ?? '');
    if (numbers === null) return [unknown(subject, place, { command: 'git --version' })];
    if (compareVersions(numbers, OLDEST_GIT) < 0)
      return [failed(subject, `${place} is too old`, upgrade('git', '2.38'))];
    if (!worktrees)
      return [failed(subject, `${place} does not know git worktree remove`, upgrade('git', '2.38'))];
    if (!mergeInMemory) {
      const slow = `${place} has no merge-tree --write-tree: conflicts are predicted the slow way`;
      return [warning(subject, slow, upgrade('git', '2.38'))];
    }
    return [ok(subject, `${place}: worktrees, merge-tree`), ...whoCommits(features)];
  } catch (error) {
    return [notFound('git', 'GIT_MISSING', error)];
  }
}

/** Agents commit as the person; what has no author stays uncommitted. */
function whoCommits({ identity }: GitFeatures): readonly CheckRow[] {
  if (identity) return [];
  const command =
    'git config --global user.name "YOUR NAME" && git config --global user.email YOU@EXAMPLE.COM';
  return [
    warning({ name: 'git identity' }, 'git knows no name and address: agents cannot commit', { command }),
  ];
}

export async function checkTmux({ tmux, env }: DoctorDeps): Promise<readonly CheckRow[]> {
  try {
    const [version, path] = await Promise.all([tmux.version(), findProgram(['tmux'], env)]);
    const subject = { name: 'tmux', version, path };
    const place = `${version ?? 'of unknown version'} at ${path ?? 'an unknown place'}`;
    const numbers = versionIn(version ?? '');
    if (numbers === null) return [unknown(subject, place, { command: 'tmux -V' })];
    if (compareVersions(numbers, OLDEST_TMUX) < 0)
      return [failed(subject, `${place} is too old`, upgrade('tmux', '3.2'))];
    if (compareVersions(numbers, TMUX_WITH_FLOW_CONTROL) < 0)
      return [warning(subject, `${place} has no flow control`, upgrade('tmux', '3.2'))];
    return [ok(subject, place)];
  } catch (error) {
    return [notFound('tmux', 'TMUX_MISSING', error)];
  }
}

export async function checkControlMode({ tmux }: DoctorDeps): Promise<readonly CheckRow[]> {
  const subject = { name: 'tmux control' };
  try {
    await tmux.tryControlMode();
    return [ok(subject, 'a private server starts, answers and ends')];
  } catch (error) {
    const code = codeOf(error);
    // That it is missing is said once.
    if (code === 'TMUX_MISSING') return [];
    if (code !== 'TMUX_FAILED' && code !== 'TMUX_LOST') throw error;
    const found =
      code === 'TMUX_LOST' ? 'the server that was started ended at once' : (error as Error).message;
    return [failed(subject, found, { command: 'tmux -L try -f /dev/null new-session' })];
  }
}

function notFound(name: 'git' | 'tmux', code: 'GIT_MISSING' | 'TMUX_MISSING', error: unknown): CheckRow {
  if (codeOf(error) !== code) throw error;
  return failed({ name }, 'not found on PATH', { advice: CATALOG[code].hint() });
}

function codeOf(error: unknown): ErrorCode | null {
  return error instanceof OrchestratorError ? error.code : null;
}

function upgrade(name: string, version: string): Fix {
  return { advice: `install ${name} ${version} or newer and put it first on PATH` };
}
