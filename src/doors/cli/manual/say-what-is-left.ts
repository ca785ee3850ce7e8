import type { SessionReport } from '../../../services/supervise/session-report.js';
import type { CliHost, WorkPlace } from '../host.js';
import { createPaint } from '../output/paint.js';
import { plain } from '../output/plain.js';
import { table } from '../output/table.js';

/** Where the work is now, and the commands that bring it home or remove it. */
export async function sayWhatIsLeft(host: CliHost, report: SessionReport): Promise<void> {
  const places = await host.whereWorkIs(report.session_id);
  const paint = createPaint(host.terminal, host.env, 'stderr');
  const rows = [
    ...places.flatMap(({ branch, worktree }) => [
      ['left', `branch ${plain(branch)}`],
      ...(worktree === null ? [] : [['left', `worktree ${plain(worktree)}`]]),
    ]),
    ...next(report, places).map(([command, what]) => ['next', `${command}   ${paint.faint(what)}`]),
  ];
  const named = rows.map(([name = '', value = ''], index) => [
    name === rows[index - 1]?.[0] ? '' : paint.faint(name),
    value,
  ]);
  host.terminal.err(`\n${table(named)}\n`);
}

function next(report: SessionReport, places: readonly WorkPlace[]): [command: string, what: string][] {
  const { session_id: id, state, commit, applied, resumable } = report;
  const isDone = state === 'done';
  const isHome = applied !== null && !applied.startsWith('not applied');
  const clean: [string, string] = [
    `agentorchestr clean ${id}${resumable ? ' --give-up' : ''}`,
    'removes it; unmerged work stays under a ref',
  ];
  if (isHome) return [clean];
  if (commit !== null)
    return [
      isDone
        ? [`agentorchestr merge ${id}`, 'brings it into your checkout']
        : [`agentorchestr merge ${id} --anyway`, 'brings it into your checkout all the same'],
      clean,
    ];
  if (isDone) return [clean];
  return [
    ...places
      .filter(({ mergeable }) => mergeable)
      .map(({ branch }): [string, string] => [`git merge ${branch}`, 'takes what it has committed']),
    clean,
  ];
}
