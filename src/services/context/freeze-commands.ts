import type { FrozenCommand } from '../../core/events/index.js';
import { detectVerifyCommands, parseProjectCommands, projectFile } from './project-files.js';

export interface FrozenCommands {
  readonly verify: readonly FrozenCommand[];
  readonly setup: readonly FrozenCommand[];
  /** Those that the project's own files name: they need a person's consent. */
  readonly fromFiles: readonly FrozenCommand[];
  /** `--verify` was given, but the project's own list goes first. */
  readonly givenUnused: boolean;
}

/**
 * How this session verifies: PROJECT.md's list, else what was given on the command line, else a guess by the manifests,
 * but for those that agents will not have (`isLeftOut`, a name in the project's folder).
 */
export async function freezeCommands(
  project: string,
  given: readonly string[],
  {
    source = '--verify',
    isLeftOut = () => false,
  }: { source?: string; isLeftOut?: (file: string) => boolean } = {},
): Promise<FrozenCommands> {
  const file = await projectFile(project, 'PROJECT.md');
  const listed = file === null ? { verify: [], setup: [] } : parseProjectCommands(file.text, 'PROJECT.md');
  const { setup } = listed;
  if (listed.verify.length > 0)
    return {
      verify: listed.verify,
      setup,
      fromFiles: [...setup, ...listed.verify],
      givenUnused: given.length > 0,
    };
  if (given.length > 0) {
    const verify = given.map((command, index) => ({
      label: `verify ${index + 1}`,
      command,
      source,
    }));
    return { verify, setup, fromFiles: setup, givenUnused: false };
  }
  const verify = await detectVerifyCommands(project, isLeftOut);
  return { verify, setup, fromFiles: [...setup, ...verify], givenUnused: false };
}
