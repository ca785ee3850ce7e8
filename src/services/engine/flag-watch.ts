import { join } from 'node:path';
import { readTextFile, removeFile } from '../../platform/files.js';
import { watchDirectory } from '../../platform/watch.js';
import type { ReportedOutcome } from '../../core/state/rows.js';

export type FlagReport = Pick<ReportedOutcome, 'state' | 'summary'>;

const WORDS: ReadonlyMap<string, ReportedOutcome['state']> = new Map([
  ['done', 'succeeded'],
  ['blocked', 'blocked'],
  ['failed', 'failed'],
]);
const SUMMARY_LIMIT = 300;
const FLAG = 'done.flag';
const TREE_FOLDER = '.agentorchestr';

/** First line one of done|blocked|failed (any case), the rest is the summary; anything else is no report. */
export function parseFlag(text: string): FlagReport | null {
  const [first = '', ...rest] = text.split('\n');
  const state = WORDS.get(first.trim().toLowerCase());
  return state === undefined ? null : { state, summary: rest.join('\n').trim().slice(0, SUMMARY_LIMIT) };
}

/**
 * Watches the two places a worker may write its flag: its private folder and `.agentorchestr/` in its tree (which need
 * not exist yet). `check` reads both at once and is also the answer to a missed event. Whatever else may stand there
 * (a folder, bytes that are no text) is no report and keeps nobody from going on.
 */
export function watchFlag(options: {
  privateDirectory: string;
  worktree: string;
  onReport: (report: FlagReport) => void;
  onError: (error: Error) => void;
}): { check(): Promise<FlagReport | null>; clear(): Promise<void>; close(): void } {
  const places = [join(options.privateDirectory, FLAG), join(options.worktree, TREE_FOLDER, FLAG)];
  const closers: (() => void)[] = [];
  let treeWatched = false;

  const check = async (): Promise<FlagReport | null> => {
    for (const place of places) {
      const text = await readTextFile(place).catch((error: Error) => options.onError(error));
      const report = parseFlag(text ?? '');
      if (report !== null) return report;
    }
    return null;
  };
  const look = () => {
    check()
      .then((report) => report && options.onReport(report))
      .catch(options.onError);
  };
  const watchTree = () => {
    if (treeWatched) return;
    treeWatched = true;
    closers.push(
      watchDirectory(
        join(options.worktree, TREE_FOLDER),
        (name) => name === FLAG && look(),
        () => (treeWatched = false),
      ),
    );
    look();
  };

  closers.push(watchDirectory(options.privateDirectory, (name) => name === FLAG && look(), options.onError));
  closers.push(
    watchDirectory(options.worktree, (name) => name === TREE_FOLDER && watchTree(), options.onError),
  );
  watchTree();
  return {
    check,
    clear: async () => {
      for (const place of places) await removeFile(place).catch(options.onError);
    },
    close: () => closers.forEach((close) => close()),
  };
}
