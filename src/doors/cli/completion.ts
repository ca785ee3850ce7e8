import { offeredFlags } from '../shared/flag-row.js';
import {
  ANYTHING,
  offerOfSign,
  oneOf,
  type Offer,
  type OfferedCommand,
  type OfferedFlag,
} from '../shared/completion/offers.js';
import { AGENTD_FLAGS, type AgentFlag } from './agentd-help.js';
import type { Command } from './command.js';
import { FLAT_FLAGS, type Flag } from './flags.js';
import { ALL_COMMANDS } from './operation-commands.js';

/** What a shell may offer behind `agentorchestr`, but for the programs of their own. */
export function offeredCommands(): OfferedCommand[] {
  const names = ALL_COMMANDS.map(({ name }) => name);
  return [
    { words: '', summary: '', flags: FLAT_FLAGS.map(offeredFlag), positionals: [] },
    ...ALL_COMMANDS.map(offeredCommand),
    { words: 'help', summary: 'Show the help of a command.', flags: [], positionals: [oneOf(names)] },
  ];
}

export function offeredAgentd(agentFlags: readonly AgentFlag[]): OfferedCommand {
  const summary = 'Sessions, runs and events over REST.';
  return { words: '', summary, flags: agentdFlags(agentFlags), positionals: [] };
}

export function agentdFlags(agentFlags: readonly AgentFlag[]): OfferedFlag[] {
  return [
    ...offeredFlags(AGENTD_FLAGS),
    ...agentFlags.map(({ flag, summary }) => ({ names: [`--${flag}`], summary, value: ANYTHING })),
  ];
}

function offeredCommand({ name, summary, flags, positionals, offers }: Command): OfferedCommand {
  return {
    words: name,
    summary,
    flags: flags.map(offeredFlag),
    positionals: offers ?? positionals.map((): Offer => ANYTHING),
  };
}

function offeredFlag({
  name,
  short,
  kind,
  value = '',
  summary,
  negatable,
  shownNegated,
  offers,
}: Flag): OfferedFlag {
  const given = kind === 'list' ? `+${offers ?? ANYTHING}` : (offers ?? offerOfSign(value));
  return {
    names: [
      ...(shownNegated === true ? [] : [`--${name}`]),
      ...(short === undefined ? [] : [`-${short}`]),
      ...(negatable === true ? [`--no-${name}`] : []),
    ],
    summary,
    value: kind === 'switch' ? null : given,
  };
}
