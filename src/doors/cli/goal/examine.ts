import type { CliHost, ProjectExamination, SessionListing } from '../host.js';
import { isPaused, isRunning, LOOKED_AT } from '../commands/which-session.js';
import type { GoalSettings } from './goal-settings.js';

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
  const here = sessions.filter((session) => session.project === examined.project);
  const others = here.filter((session) => isRunning(session) || isPaused(session));
  return { ...examined, verifyGivenUnused, others };
}
