import type { GatewayOperation } from '../../services/gateway/operation.js';
import {
  ANYTHING,
  oneOf,
  SESSIONS,
  type Offer,
  type OfferedCommand,
  type OfferedFlag,
} from '../shared/completion/offers.js';
import { SHELLS } from '../shared/completion/script.js';
import { offeredFlags } from '../shared/flag-row.js';
import { kebab } from '../shared/projection.js';
import { GLOBAL_FLAGS } from './arguments.js';
import { commandOf, type OperationCommand } from './commands.js';
import { DAEMON_COMMANDS } from './daemon.js';
import { COMPLETION, rowsOf, TAIL } from './help.js';

/** What a shell may offer behind `agentctl`. `ofDaemon`: the flags of agentd, for commands that hand them on. */
export function offeredCommands(
  operations: readonly GatewayOperation[],
  ofDaemon: readonly OfferedFlag[],
): OfferedCommand[] {
  const globals = offeredFlags(GLOBAL_FLAGS, known);
  const own: OfferedCommand[] = [
    ...DAEMON_COMMANDS.map(({ name, summary, flags, handsOn, offers = [] }) => ({
      ...{ words: name, summary, positionals: offers },
      flags: [...offeredFlags(flags, known), ...(handsOn === true ? ofDaemon : [])],
    })),
    ...operations.map(commandOf).flatMap(namesOf),
    {
      words: 'events tail',
      summary: TAIL.summary,
      flags: offeredFlags(TAIL.flags, known),
      positionals: [SESSIONS],
    },
    { words: 'completion', summary: COMPLETION.summary, flags: [], positionals: [oneOf(SHELLS)] },
  ];
  return [
    { words: '', summary: '', flags: globals, positionals: [] },
    ...own.map((command) => ({ ...command, flags: without(globals, command.flags) })),
  ];
}

/** What a command has of its own comes first, and only once. */
function without(globals: readonly OfferedFlag[], flags: readonly OfferedFlag[]): OfferedFlag[] {
  const taken = new Set(flags.flatMap(({ names }) => names));
  return [...flags, ...globals.filter(({ names }) => !names.some((name) => taken.has(name)))];
}

function namesOf(command: OperationCommand): OfferedCommand[] {
  return command.names.map((words) => ({
    words,
    summary: command.operation.summary,
    flags: offeredFlags(rowsOf(command), known),
    positionals: command.positional.map(offerOfField),
  }));
}

const offerOfField = (field: string): Offer => known(kebab(field)) ?? ANYTHING;

function known(flag: string): Offer | null {
  return flag.endsWith('session-id') ? SESSIONS : null;
}
