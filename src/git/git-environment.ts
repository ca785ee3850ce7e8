import { dirname } from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

/** What of the user's GIT_* variables is theirs to choose; all others would point our git at another repository, index or editor. */
const KEPT =
  /^GIT_(SSH|SSH_COMMAND|SSH_VARIANT|EXEC_PATH|ALLOW_PROTOCOL|DISCOVERY_ACROSS_FILESYSTEM|(AUTHOR|COMMITTER)_(NAME|EMAIL)|CONFIG_(GLOBAL|SYSTEM|NOSYSTEM|PARAMETERS|COUNT|KEY_\d+|VALUE_\d+)|(SSL|HTTP|PROXY|CURL)_\w+)$/;

/** The environment of every git of ours: never prompts, speaks English, takes no optional lock, inherits no repository. */
export function gitEnvironment(user: Environment): Environment {
  const kept = Object.entries(user).filter(([name]) => !name.startsWith('GIT_') || KEPT.test(name));
  return {
    ...Object.fromEntries(kept),
    LC_ALL: 'C',
    LANGUAGE: 'C',
    GIT_TERMINAL_PROMPT: '0',
    // An "askpass" that answers nothing: credentials may come from helpers and agents, never from a person.
    GIT_ASKPASS: 'true',
    SSH_ASKPASS: 'true',
    SSH_ASKPASS_REQUIRE: 'never',
    GCM_INTERACTIVE: 'never',
    GIT_SSH_COMMAND: batchSsh(user['GIT_SSH_COMMAND'] ?? user['GIT_SSH'] ?? 'ssh'),
    GIT_EDITOR: ':',
    GIT_SEQUENCE_EDITOR: ':',
    GIT_PAGER: 'cat',
    GIT_MERGE_AUTOEDIT: 'no',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_LFS_SKIP_SMUDGE: '1',
  };
}

/** The user's ssh, told never to ask. */
export function batchSsh(command: string): string {
  return `${command} -oBatchMode=yes`;
}

/** Settings that hold for every call, whatever the repository or the user configured. */
const SETTINGS: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.editor=:',
  'core.pager=cat',
  'commit.gpgsign=false',
  'tag.gpgsign=false',
  'merge.verifySignatures=false',
  'merge.autoStash=false',
  'gc.auto=0',
  'maintenance.auto=false',
  'rerere.enabled=false',
  'submodule.recurse=false',
  'fetch.recurseSubmodules=false',
  'branch.autoSetupMerge=false',
  'worktree.guessRemote=false',
  // Newer gits would write an extension into the shared config.
  'worktree.useRelativePaths=false',
  'diff.noprefix=false',
  'diff.mnemonicPrefix=false',
  'color.ui=false',
  'advice.addEmbeddedRepo=false',
  'advice.detachedHead=false',
];

const WITHOUT_LFS: readonly string[] = [
  'filter.lfs.smudge=',
  'filter.lfs.clean=',
  'filter.lfs.process=',
  'filter.lfs.required=false',
];

/**
 * The arguments before every subcommand. Where git-lfs is configured but not installed, its filter is taken out:
 * pointer files are checked out and compared as they are, instead of every command failing.
 */
export function settingArguments(options: { lfsInstalled: boolean }): string[] {
  const settings = options.lfsInstalled ? SETTINGS : [...SETTINGS, ...WITHOUT_LFS];
  return settings.flatMap((setting) => ['-c', setting]);
}

/**
 * Where a command runs. `worktree`: in that folder, which must itself be the top of a working tree; git is kept from
 * looking for a repository above it, so a worktree that lost its `.git` is an error and never the folder around it.
 * `repository`: on that git directory, no working tree. `folder`: wherever git's own search leads.
 */
export type Place =
  | { readonly worktree: string }
  | { readonly repository: string }
  | { readonly folder: string }
  | { readonly gitDirectory: string; readonly workTree: string };

export function placeSettings(place: Place): { cwd: string; args: string[]; env: Environment } {
  if ('worktree' in place)
    return { cwd: place.worktree, args: [], env: { GIT_CEILING_DIRECTORIES: dirname(place.worktree) } };
  if ('repository' in place)
    return { cwd: place.repository, args: [`--git-dir=${place.repository}`], env: {} };
  if ('gitDirectory' in place)
    return {
      cwd: place.workTree,
      args: [`--git-dir=${place.gitDirectory}`, `--work-tree=${place.workTree}`],
      env: {},
    };
  return { cwd: place.folder, args: [], env: {} };
}
