import type { CliHost, ProjectExamination, SessionListing } from '../host.js';
import { canGoOn, isWaitedFor } from '../commands/which-session.js';
import type { GoalSettings } from './goal-settings.js';

const LOOKED_AT = 200;

export interface Examined extends ProjectExamination {
  /** Sessions of this project that are not over, newest first. */
  readonly others: readonly SessionListing[];
}

export async function examine(host: CliHost, project: string, settings: GoalSettings): Promise<Examined> {
  const { origin } = settings.get('verify');
  const examined = await host.examineProject(project, {
    verify: settings.texts('verify') ?? [],
    verifySource: origin.from === 'flag' ? origin.where : `set in ${origin.where}`,
    includeChanges: settings.isOn('include_changes'),
  });
  // Who set it for every project knows that some say it themselves.
  const verifyGivenUnused = examined.verifyGivenUnused && origin.from === 'flag';
  const sessions = await host.listSessions(LOOKED_AT);
  const others = sessions.filter(
    (session) => session.project === examined.project && canGoOn(session) && isWaitedFor(session),
  );
  return { ...examined, verifyGivenUnused, others };
}
