import type { CliHost, SessionListing } from '../host.js';
import { createPaint, paintState } from '../output/paint.js';
import { age, oneLine } from '../output/plain.js';
import { table } from '../output/table.js';

const MOST_SESSIONS = 20;
const GOAL_CHARACTERS = 60;
const PROJECT_CHARACTERS = 24;

/** Loads nothing but the store: see main/sessions-list.ts. */
export async function listSessions(
  host: Pick<CliHost, 'terminal' | 'env' | 'listSessions' | 'now'>,
  options: { json: boolean },
): Promise<number> {
  const sessions = await host.listSessions(MOST_SESSIONS);
  host.terminal.out(options.json ? `${JSON.stringify({ sessions }, null, 2)}\n` : render(sessions, host));
  return 0;
}

function render(
  sessions: readonly SessionListing[],
  host: Pick<CliHost, 'terminal' | 'env' | 'now'>,
): string {
  if (sessions.length === 0) return 'No sessions yet. Start one: agentorchestr --goal "…"\n';
  const paint = createPaint(host.terminal, host.env, 'stdout');
  const isMixed = new Set(sessions.map(({ project }) => project)).size > 1;
  const rows = sessions.map((session) => [
    session.resumable ? '*' : ' ',
    paint.strong(session.session_id),
    paintState(paint, session.state) + (session.cleaned_at === null ? '' : paint.faint(' cleaned')),
    `${session.workers_done}/${session.workers_total} done`,
    age(session.updated_at, host.now()),
    ...(isMixed ? [oneLine(session.project.split('/').at(-1) ?? '', PROJECT_CHARACTERS)] : []),
    oneLine(session.goal, GOAL_CHARACTERS),
  ]);
  const marked = sessions.some((session) => session.resumable)
    ? `\n${paint.faint('* goes on with agentorchestr --resume ID')}`
    : '';
  return `${table(rows)}${marked}\n`;
}
