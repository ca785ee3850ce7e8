import type { Operation } from '../../services/operation.js';
import { OPERATIONS } from '../../services/operations/index.js';
import { kebab } from '../shared/projection.js';
import type { Command } from './command.js';
import { COMMANDS } from './commands.js';
import { operationFlags } from './commands/operation-flags.js';
import { runOperation } from './commands/operation.js';

/** The operations of the table as commands; `status` and `pause` have commands of their own. */
export const OPERATION_COMMANDS: readonly Command[] = OPERATIONS.filter(
  (operation) =>
    operation.doors.cli === true && !COMMANDS.some((command) => command.name === kebab(operation.name)),
).map(commandOf);

/** Every word that may stand first. */
export const ALL_COMMANDS: readonly Command[] = [...COMMANDS, ...OPERATION_COMMANDS];

function commandOf(operation: Operation): Command {
  return {
    name: kebab(operation.name),
    summary: operation.summary,
    positionals: (operation.positional ?? []).map((field) => kebab(field).toUpperCase()),
    flags: operationFlags(operation),
    examples: [],
    run: (host, parsed) => runOperation(host, operation, parsed),
  };
}
