/**
 * Files of ours that an agent may find in its tree: never a change, never part of a commit. They may lie below the
 * project's folder when that is a subdirectory, so they are matched at any depth.
 */
export const OWN_FILES: readonly string[] = [
  '.agentorchestr/done.flag*',
  '.agentorchestr/prompt_*',
  '.agentorchestr/mcp_configs/**',
];

/** Pathspecs for "everything but ours". */
export const ALL_BUT_OWN: readonly string[] = [
  ':(top)',
  ...OWN_FILES.map((pattern) => `:(exclude,top,glob)**/${pattern}`),
];

/** Pathspecs for "only ours". */
export const ONLY_OWN: readonly string[] = OWN_FILES.map((pattern) => `:(top,glob)**/${pattern}`);

const OWN_PATH = /(^|\/)\.agentorchestr\/(done\.flag[^/]*|prompt_[^/]*|mcp_configs\/.+)$/;

export function isOwnFile(path: string): boolean {
  return OWN_PATH.test(path);
}
