import type { CliHost, ProjectExamination } from '../host.js';
import type { GoalSettings } from './goal-settings.js';

export async function examine(
  host: CliHost,
  project: string,
  settings: GoalSettings,
): Promise<ProjectExamination> {
  const { origin } = settings.get('verify');
  const examined = await host.examineProject(project, {
    verify: settings.texts('verify') ?? [],
    verifySource: origin.from === 'flag' ? origin.where : `set in ${origin.where}`,
    includeChanges: settings.isOn('include_changes'),
  });
  // Who set it for every project knows that some say it themselves.
  return { ...examined, verifyGivenUnused: examined.verifyGivenUnused && origin.from === 'flag' };
}
