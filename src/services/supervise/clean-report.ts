import { z } from 'zod';

const removed = z.object({
  what: z.enum(['worktree', 'branch', 'panes', 'folder', 'repository']),
  name: z.string(),
  bytes: z.number().describe('on disk'),
  note: z.string().nullable(),
});

const salvaged = z.object({
  worker: z.string(),
  ref: z.string(),
  commit: z.string().describe('what the ref points at; in a dry run, the HEAD that would be kept'),
  ignored_files: z.array(z.string()),
  kept_in: z.string().nullable().describe('folder with the ignored files, as 0600 files'),
  submodules: z.array(z.object({ path: z.string(), repository: z.string(), ref: z.string() })),
});

/** What `clean` did to one session, or would do. */
export const cleanReport = z.object({
  session_id: z.string(),
  state: z.string(),
  dry_run: z.boolean(),
  resume_lost: z.string().nullable().describe('what cannot be resumed any more'),
  removed: z.array(removed),
  salvaged: z.array(salvaged).describe('work that is kept under a ref, with how to find it'),
  left: z
    .array(z.object({ what: z.string(), reason: z.string(), bytes: z.number() }))
    .describe('what stays, because something would be lost or it is still needed'),
  bytes: z.number().describe('disk space freed'),
});
export type CleanReport = z.infer<typeof cleanReport>;

/** The report in the making. */
export interface Cleaning {
  readonly dryRun: boolean;
  readonly removed: CleanReport['removed'];
  readonly salvaged: CleanReport['salvaged'];
  readonly left: CleanReport['left'];
  /** Branches of worktrees that stay; they stay too. */
  readonly stayingBranches: Set<string>;
}
