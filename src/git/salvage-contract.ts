/** Part of `contract.ts`: finding a worktree and what only it holds before it goes, keeping that, and the way back. */
export interface GitSalvage {
  /**
   * Keeps everything of a worktree (commits, uncommitted, untracked) under a ref; null when it holds nothing beyond `base`.
   * The same work is kept once, however often it is asked for. Of a worktree whose folder is gone: what git still knows.
   */
  salvage(options: SalvageOptions): Promise<SalvageResult | null>;
  /** Where a worktree of ours is by now; people and agents move, break and delete them. Reads only. */
  locateWorktree(options: {
    repository: string;
    path: string;
    branch: string | null;
  }): Promise<LocatedWorktree>;
  /** The repository a session works in, also when it was moved and its worktrees were repaired; null when it is gone. */
  locateRepository(options: { recorded: string; worktrees: readonly string[] }): Promise<string | null>;
  /** Branches of one session, as `agentorchestr/<sid>/…`, with their commits. */
  sessionBranches(repository: string, sessionId: string): Promise<readonly HeldRef[]>;
  /**
   * Whether a commit stays without the branches of ours: reachable from a branch of the user's, a tag, a remote branch, a
   * salvage or base ref, or one of `alsoBy`.
   */
  isHeld(options: { repository: string; commit: string; alsoBy: readonly string[] }): Promise<boolean>;
  /** Points a salvage ref at a commit; takes a numbered name where another one holds something else. Returns the ref. */
  keepCommit(options: { repository: string; ref: string; commit: string }): Promise<string>;
  /** What the salvage refs of a session hold beyond `base`, one entry per ref; `ref`: only that one. */
  listSalvaged(options: {
    repository: string;
    sessionId: string;
    base: string;
    ref?: string;
  }): Promise<readonly SalvagedWork[]>;
  /**
   * Brings kept work back, see RestoreTarget; nothing is overwritten. Throws REF_NOT_FOUND, BRANCH_IN_USE,
   * RESTORE_IN_THE_WAY with the files; then nothing was written.
   */
  restoreSalvaged(options: RestoreOptions): Promise<Restored>;
}

export interface SalvageOptions {
  readonly repository: string;
  readonly worktree: string;
  readonly base: string;
  readonly ref: string;
  /** Folder for copies of precious ignored files (0600), never git objects. */
  readonly keepIgnoredIn: string;
  /** The user's project: ignored files equal to its copy are not kept. It may be gone: then all are. */
  readonly project: string;
  /** Its branch, which goes as well: what only it holds is kept too. */
  readonly branch?: string | null;
  /** HEAD counts as work only where no branch or tag has it, instead of where it is beyond `base`. */
  readonly unheldOnly?: boolean;
  /** Nothing is written: says what would be kept. */
  readonly dryRun?: boolean;
}

export interface SalvageResult {
  readonly ref: string;
  /** What the ref points at; in a dry run, HEAD. */
  readonly commit: string;
  readonly head: string;
  /** Work in submodules, under a ref in a repository of the user's that stays. */
  readonly submodules: readonly {
    readonly path: string;
    readonly repository: string;
    readonly ref: string;
  }[];
  /** Ignored files that were copied, relative to the worktree. */
  readonly ignoredFiles: readonly string[];
  /** What could not be kept (too large, a repository of its own, unreadable): whoever removes the worktree decides. */
  readonly notKept: readonly string[];
}

/**
 * `present`: there, and a worktree of this repository. `gone`: no folder, but git still has its entry. `moved`: git knows
 * it elsewhere. `broken`: a folder that is no worktree of this repository (any more). `none`: neither folder nor entry.
 */
export type LocatedWorktree =
  | { readonly state: 'present' | 'moved'; readonly path: string }
  | { readonly state: 'gone' | 'none' }
  | { readonly state: 'broken'; readonly path: string; readonly problem: string };

export interface HeldRef {
  readonly name: string;
  readonly commit: string;
}

export interface SalvagedWork {
  readonly ref: string;
  readonly commit: string;
  /** Uncommitted or untracked files are in it. */
  readonly uncommitted: boolean;
  /** Commits beyond the session's base. */
  readonly commits: number;
  /** Files that differ from the base, and the bytes of those that are there. */
  readonly files: number;
  readonly bytes: number;
}

export interface RestoreOptions {
  readonly repository: string;
  readonly ref: string;
  readonly base: string;
  /** Where the ignored files of that worker are kept; null: none. */
  readonly ignoredFrom: string | null;
  readonly target: RestoreTarget;
}

/** A folder that is not there or empty becomes a worktree as it was; one with files gets what differs from the base. */
export type RestoreTarget =
  { readonly kind: 'folder'; readonly path: string } | { readonly kind: 'branch'; readonly name: string };

export interface Restored {
  readonly how: 'worktree' | 'files' | 'branch';
  readonly commit: string;
  readonly files: readonly string[];
  /** Deleted by the worker; in `files` mode the folder's copies stay. */
  readonly deletedFiles: readonly string[];
  readonly ignoredFiles: readonly string[];
  /** Commits under the ref that are not part of what was restored: stashes, loose commits, earlier salvages. */
  readonly alsoKept: readonly string[];
}
