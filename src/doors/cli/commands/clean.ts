import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError, errorBody, toOrchestratorError } from '../../../core/errors/error.js';
import type { CleanReport } from '../../../services/supervise/clean-report.js';
import { saysYes } from '../ask.js';
import type { CliHost } from '../host.js';
import { renderCleaning } from '../output/cleaning.js';
import { printError } from '../output/errors.js';
import { createPaint } from '../output/paint.js';
import type { Parsed } from '../parse.js';

const LOOKED_AT = 1_000;
const OTHER_LIMIT_MS = 300_000;

/** Removes what sessions that are over left, each by itself: one that is refused does not keep the others. */
export async function clean(host: CliHost, parsed: Parsed): Promise<number> {
  const dryRun = parsed.isOn('dry-run') ?? false;
  const giveUp = parsed.isOn('give-up') ?? false;
  const json = parsed.isOn('json') ?? false;
  const sessions = await chosenSessions(host, parsed);
  if (!dryRun && parsed.isOn('yes') !== true) {
    const may = await asks(host, sessions, { giveUp, json });
    if (may !== 'yes') {
      host.terminal.err('nothing was removed\n');
      return EXIT.operation;
    }
  }
  const outcome = await cleanAll(host, sessions, { dry_run: dryRun, give_up: giveUp });
  print(host, outcome, { json, dryRun });
  if (sessions.length === 0 && !json) await sayWhatElse(host);
  return outcome.refused.length === 0 ? EXIT.ok : EXIT.operation;
}

async function chosenSessions(host: CliHost, parsed: Parsed): Promise<readonly string[]> {
  const named: string[] = [];
  for (const prefix of parsed.positionals) named.push(await host.findSession(prefix));
  const allDone = parsed.isOn('all-done') ?? false;
  if (parsed.isOn('give-up') === true && (allDone || named.length === 0))
    throw new OrchestratorError('USAGE', {
      problem: '--give-up is for sessions that are named',
      hint: 'for example: agentorchestr clean 3f2a --give-up',
    });
  if (!allDone && named.length === 0)
    throw new OrchestratorError('USAGE', {
      problem: 'which sessions are cleaned?',
      hint: 'name them (agentorchestr --list-sessions shows them), or --all-done',
    });
  const done = allDone
    ? (await host.listSessions(LOOKED_AT)).filter(
        ({ state, cleaned_at: at }) => state === 'done' && at === null,
      )
    : [];
  return [...new Set([...named, ...done.map(({ session_id: id }) => id)])];
}

/** `--all-done` found none: those that ended otherwise can go on, and so go only by their name. */
async function sayWhatElse(host: CliHost): Promise<void> {
  const left = (await host.listSessions(LOOKED_AT)).filter(
    ({ state, cleaned_at: at }) => at === null && !['done', 'active'].includes(state),
  );
  const [first] = left;
  if (first === undefined) return;
  const which = left.length === 1 ? '1 session' : `${left.length} sessions`;
  host.terminal.err(
    `${which} that can go on (agentorchestr --list-sessions) are cleaned by name only: agentorchestr clean ${first.session_id}\n`,
  );
}

/** Shows what would go, and asks. */
async function asks(
  host: CliHost,
  sessions: readonly string[],
  { giveUp, json }: { giveUp: boolean; json: boolean },
): Promise<'yes' | 'no'> {
  const { terminal } = host;
  if (!terminal.stdinIsTty || json)
    throw new OrchestratorError('USAGE', {
      problem: 'clean asks before it removes anything, and cannot ask here',
      hint: 'look first with --dry-run, then say --yes',
    });
  if (sessions.length === 0) return 'yes';
  const { reports, refused } = await cleanAll(host, sessions, { dry_run: true, give_up: giveUp });
  const lost = reports.filter((report) => report.resume_lost !== null);
  if (reports.length === 0 || (!giveUp && lost.length === reports.length)) return 'yes'; // It says why not itself.
  const paint = createPaint(terminal, host.env, 'stderr');
  for (const report of reports) terminal.err(`${renderCleaning(report, paint)}\n`);
  for (const { error } of refused) printError(terminal, error, { json: false });
  return (await saysYes(terminal, 'Remove this?')) ? 'yes' : 'no';
}

interface Outcome {
  readonly reports: readonly CleanReport[];
  readonly refused: readonly { readonly sessionId: string; readonly error: OrchestratorError }[];
}

async function cleanAll(
  host: CliHost,
  sessions: readonly string[],
  input: { dry_run: boolean; give_up: boolean },
): Promise<Outcome> {
  const reports: CleanReport[] = [];
  const refused: { sessionId: string; error: OrchestratorError }[] = [];
  for (const sessionId of sessions) {
    try {
      reports.push(await cleanOne(host, sessionId, input));
    } catch (thrown) {
      refused.push({ sessionId, error: toOrchestratorError(thrown) });
    }
  }
  return { reports, refused };
}

/** Another clean may be at it: then this one says what is left afterwards. */
async function cleanOne(
  host: CliHost,
  sessionId: string,
  input: { dry_run: boolean; give_up: boolean },
): Promise<CleanReport> {
  const call = () =>
    host.call(sessionId, { name: 'clean', effect: 'destroy' }, input) as Promise<CleanReport>;
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof OrchestratorError && error.code === 'SESSION_OWNED')) throw error;
    if (!(await host.settled(sessionId, OTHER_LIMIT_MS))) throw error;
    return call();
  }
}

function print(host: CliHost, { reports, refused }: Outcome, how: { json: boolean; dryRun: boolean }): void {
  const { terminal } = host;
  const bytes = reports.reduce((sum, report) => sum + report.bytes, 0);
  if (how.json) {
    const errors = refused.map(({ sessionId, error }) => ({ session_id: sessionId, ...errorBody(error) }));
    terminal.out(
      `${JSON.stringify({ dry_run: how.dryRun, sessions: reports, refused: errors, bytes }, null, 2)}\n`,
    );
    return;
  }
  const paint = createPaint(terminal, host.env, 'stdout');
  for (const report of reports) terminal.out(`${renderCleaning(report, paint)}\n`);
  if (reports.length === 0 && refused.length === 0) terminal.out('nothing to clean\n');
  for (const { error } of refused) printError(terminal, error, { json: false });
}
