import { OrchestratorError } from '../../../core/errors/error.js';
import { bashScript } from './bash.js';
import { fishScript } from './fish.js';
import type { OfferedCommand } from './offers.js';
import { zshScript } from './zsh.js';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

const SCRIPTS = { bash: bashScript, zsh: zshScript, fish: fishScript };

export function completionScript(shell: Shell, program: string, commands: readonly OfferedCommand[]): string {
  return SCRIPTS[shell](program, commands);
}

/** Throws USAGE. */
export function shellOf(given: readonly string[], program: string): Shell {
  const [name, extra] = given;
  const shell = SHELLS.find((one) => one === name);
  if (shell !== undefined && extra === undefined) return shell;
  const problem =
    name === undefined
      ? 'completion needs the name of a shell'
      : shell === undefined
        ? `no completion for "${name}"`
        : `unexpected argument "${extra ?? ''}"`;
  throw new OrchestratorError('USAGE', {
    problem,
    hint: `one of: ${SHELLS.map((one) => `${program} completion ${one}`).join(', ')}`,
  });
}

/** Where a script goes so that every new shell has it. */
export function installLines(program: string): readonly (readonly [line: string, what: string])[] {
  return [
    [`eval "$(${program} completion bash)"`, 'bash: in ~/.bashrc'],
    [`eval "$(${program} completion zsh)"`, 'zsh: in ~/.zshrc, after compinit'],
    [`${program} completion fish | source`, 'fish: in ~/.config/fish/config.fish'],
  ];
}
