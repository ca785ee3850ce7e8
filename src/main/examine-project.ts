import { join } from 'node:path';
import { areCommandsConsented, isProjectTrusted } from '../config/trust.js';
import type { ProjectExamination } from '../doors/cli/host.js';
import { baseStatement } from '../git/base-statement.js';
import type { ProjectFacts } from '../git/contract.js';
import { createGit } from '../git/create-git.js';
import { systemClock } from '../platform/clock.js';
import { resolvePaths } from '../platform/paths.js';
import { freezeCommands } from '../services/context/freeze-commands.js';

type Environment = Readonly<Record<string, string | undefined>>;

export async function examineProject(
  env: Environment,
  folder: string,
  options: { verify: readonly string[]; verifySource: string; includeChanges: boolean },
): Promise<ProjectExamination> {
  const facts = await createGit({ env, clock: systemClock }).inspectProject(folder);
  const { project } = facts;
  const leftOut = options.includeChanges ? [] : facts.newFiles;
  const frozen = await freezeCommands(project, options.verify, {
    source: options.verifySource,
    isLeftOut: (file) => leftOut.includes(join(facts.subdirectory, file)),
  });
  const paths = resolvePaths(env);
  const fromFiles = frozen.fromFiles.map(({ command }) => command);
  const consented = frozen.fromFiles.length === 0 || (await areCommandsConsented(paths, project, fromFiles));
  return {
    project,
    trusted: await isProjectTrusted(paths, project),
    verifyCommands: frozen.verify,
    setupCommands: frozen.setup,
    consentNeeded: consented ? [] : frozen.fromFiles,
    verifyGivenUnused: frozen.givenUnused,
    baseStatement: presentBase(facts, options.includeChanges),
    leavesChangesOut: facts.uncommittedFiles.length > 0 && !options.includeChanges,
  };
}

/** The base before anything is fetched or copied; the session's own statement is said again when it differs. */
function presentBase(facts: ProjectFacts, includeChanges: boolean): string {
  if (facts.repository === null) return `base: a private copy of ${facts.project} (not a git repository)`;
  return baseStatement(facts, {
    now: systemClock.now(),
    included: includeChanges,
    embedded: [],
    fetchProblem: null,
  });
}
