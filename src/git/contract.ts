import type { GitSalvage } from './salvage-contract.js';

export type * from './salvage-contract.js';

/**
 * Moving work through git. Never writes the user's checkout, index, stash, branches, hooks, config or info/exclude —
 * except `applyToCheckout`, which refuses unless that is safe. Our git never prompts, signs, runs hooks or opens an editor.
 * All paths are absolute. Failures are GIT_FAILED unless said otherwise.
 */
export interface Git extends GitSalvage {
  /** Throws NOT_A_PROJECT, NO_COMMITS, GIT_MISSING. `repository: null` = not inside a git repository. */
  inspectProject(project: string): Promise<ProjectFacts>;
  /** Fixes the commit the session starts from. Imports a folder that is not a repository into a private one. */
  prepareBase(options: BaseOptions): Promise<SessionBase>;
  /**
   * A new worktree on a new branch (or detached with `branch: null`), registered under the repository lock, checked out
   * outside it, validated. Throws BRANCH_IN_USE, WORKTREE_INVALID, REF_NOT_FOUND; a failure removes only what it made.
   */
  createWorktree(options: WorktreeOptions): Promise<Worktree>;
  /**
   * Renames into the trash, drops the entry, deletes in the background (see `idle`). Salvage first: this does not ask.
   * Missing is fine. Throws GIT_FAILED when another worktree lies inside.
   */
  removeWorktree(options: { repository: string; path: string; trash: string }): Promise<void>;
  /** Deletes a branch of ours (`agentorchestr/…`); refuses any other name. */
  deleteBranch(options: { repository: string; branch: string }): Promise<void>;
  /** The commit of a branch, commit or ref; null when there is none. */
  resolve(repository: string, ref: string): Promise<string | null>;
  /** How many commits `ref` holds that `base` does not; 0 when there is no such ref. */
  commitsBeyond(options: { repository: string; ref: string; base: string }): Promise<number>;
  /** Uncommitted and untracked files (ours excluded), HEAD, and whether commits exist beyond `base`. */
  status(worktree: string, base: string): Promise<WorktreeStatus>;
  /**
   * Commits everything (ours excluded), with the fallback identity where the user has none; null when there was nothing.
   * Refuses unresolved conflicts and folders that are repositories of their own.
   */
  commitAll(worktree: string, message: string): Promise<string | null>;
  /**
   * Moves one of our worktrees (verify, integration) to `commit` and throws away uncommitted changes and untracked files;
   * ignored files stay. Refuses the user's own checkout.
   */
  resetWorktree(worktree: string, commit: string): Promise<void>;
  /**
   * Merges `commit` into the integration worktree, or says what would conflict. Never leaves a conflicted tree; files of
   * ours are stripped, and a history that holds some is squashed. Throws INTEGRATION_DIRTY.
   */
  integrate(options: IntegrateOptions): Promise<IntegrateResult>;
  /** Finishes what a killed process began in a worktree (a half-done `integrate`). Call it when a session is resumed. */
  recoverWorktree(worktree: string): Promise<void>;
  /** Conflicting files of merging two commits, no tree touched; [] = clean. */
  predictConflicts(repository: string, ours: string, theirs: string): Promise<readonly string[]>;
  /** Diff from the merge base with `base` to the working tree of `worktree` (uncommitted and untracked included). */
  diff(options: { worktree: string; base: string; statOnly: boolean; maxBytes: number }): Promise<DiffResult>;
  /** Pairwise comparison of trees, uncommitted work included (through a temporary index; nothing is changed). */
  overlaps(options: {
    repository: string;
    base: string;
    trees: readonly { id: string; worktree: string }[];
  }): Promise<readonly Overlap[]>;
  /** Deletes what a killed process left in the trash. */
  emptyTrash(trash: string): Promise<void>;
  /**
   * Brings ignored files named in `.worktreeinclude` (of the checkout's top, and of the project where that is a folder
   * below it) to the same places of `worktree` (its top). Never overwrites; returns paths relative to `worktree`.
   */
  includeIgnored(options: { project: string; worktree: string }): Promise<readonly string[]>;
  /** Brings the result into the user's checkout when that is safe. Throws CHECKOUT_NOT_SAFE with the command to type. */
  applyToCheckout(options: ApplyOptions): Promise<{ how: string }>;
  /**
   * Environment variables that keep our files out of an agent's own commits, beside the ignore file that every new
   * worktree gets. Writes one file into `directory`; the user's global excludes go on to hold.
   */
  agentGitEnvironment(options: {
    project: string;
    directory: string;
  }): Promise<Readonly<Record<string, string>>>;
  /** Resolves when nothing goes on in the background (deleting trash); call it before the process ends. */
  idle(): Promise<void>;
}

export interface ProjectFacts {
  readonly project: string;
  /** Absolute git common directory; null when the folder is not in a repository. */
  readonly repository: string | null;
  /** Top of the user's checkout; null for bare repositories and plain folders. */
  readonly checkout: string | null;
  /** Path of the project below the checkout's top, '' at the top. */
  readonly subdirectory: string;
  readonly head: string | null;
  readonly branch: string | null;
  readonly upstream: {
    readonly name: string;
    readonly ahead: number;
    readonly behind: number;
    readonly fetchedAt: string | null;
  } | null;
  readonly uncommittedFiles: readonly string[];
  /** Those of them that HEAD has no version of. */
  readonly newFiles: readonly string[];
  readonly submodules: boolean;
  readonly lfs: boolean;
}

export interface BaseOptions {
  readonly facts: ProjectFacts;
  readonly sessionId: string;
  readonly includeChanges: boolean;
  readonly fetch: boolean;
  /** Where private repositories for plain folders are made. */
  readonly importRoot: string;
}

export interface SessionBase {
  readonly repository: string;
  readonly commit: string;
  readonly subdirectory: string;
  /** "base main@abc1234; 12 behind origin/main as last fetched 3 days ago; 3 uncommitted files are not included" */
  readonly statement: string;
  readonly imported: boolean;
}

export interface WorktreeOptions {
  readonly repository: string;
  readonly path: string;
  readonly branch: string | null;
  readonly commit: string;
  /** The project's folder below the top, where our in-tree files would lie; '' unless told. */
  readonly subdirectory?: string;
  /** The branch is ours and stands at `commit` already: the worktree is only put on it. Default false: it must be new. */
  readonly existing?: boolean;
}

export interface Worktree {
  readonly path: string;
  readonly branch: string | null;
  readonly commit: string;
}

export interface WorktreeStatus {
  readonly head: string;
  readonly changedFiles: readonly string[];
  readonly commitsBeyondBase: number;
}

export interface IntegrateOptions {
  readonly repository: string;
  readonly worktree: string;
  readonly commit: string;
  readonly message: string;
  readonly strategy: 'merge' | 'squash' | 'cherry-pick';
  /** Base of the worker's commits, for cherry-pick. */
  readonly base: string;
}

export type IntegrateResult =
  | {
      readonly merged: true;
      readonly commit: string;
      readonly alreadyIn: boolean;
      /** What was done: `squash` instead of `merge` where the worker's history held files of ours. */
      readonly strategy: IntegrateOptions['strategy'];
      /** Files of ours that were in the worker's commits and are not in the result. */
      readonly strippedFiles: readonly string[];
    }
  | { readonly merged: false; readonly conflicts: readonly string[] };

export interface DiffResult {
  readonly files: readonly {
    readonly path: string;
    readonly added: number | null;
    readonly removed: number | null;
  }[];
  readonly text: string;
  readonly truncated: boolean;
}

export interface Overlap {
  readonly a: string;
  readonly b: string;
  readonly files: readonly string[];
  /** Files that would conflict when both are merged. */
  readonly conflicts: readonly string[];
}

export interface ApplyOptions {
  readonly facts: ProjectFacts;
  readonly base: SessionBase;
  readonly resultCommit: string;
  readonly resultBranch: string;
  readonly includedChanges: boolean;
}

/** What `--doctor` asks of git; reads only. */
export interface GitProbe {
  /** Throws GIT_MISSING, TIMED_OUT. */
  features(): Promise<GitFeatures>;
  /** Every worktree that a repository (its common git directory) has an entry for. */
  registered(repository: string): Promise<readonly { readonly path: string; readonly isThere: boolean }[]>;
  /** The repository that a folder says it is a worktree of; `registered`: which also knows it. null: it is none. */
  worktreeOf(folder: string): Promise<{ readonly repository: string; readonly registered: boolean } | null>;
}

export interface GitFeatures {
  /** null when it says nothing that looks like one. */
  readonly version: string | null;
  /** `worktree` adds without checking out, and removes. */
  readonly worktrees: boolean;
  /** `merge-tree --write-tree`; without it conflicts are predicted in a throw-away repository. */
  readonly mergeInMemory: boolean;
  readonly lfsInstalled: boolean;
  /** Somebody has a name and an address here, without which no `git commit` works. */
  readonly identity: boolean;
}
