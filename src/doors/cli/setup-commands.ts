import { settingKeys } from '../../config/schema.js';
import { oneOf } from '../shared/completion/offers.js';
import { installLines, SHELLS } from '../shared/completion/script.js';
import type { Command } from './command.js';
import { HELP_FLAG, JSON_FLAG, SETTING_FLAGS } from './flags.js';

/** Those that are about no session. */
export const SETUP_COMMANDS: readonly Command[] = [
  {
    name: 'config',
    summary: 'Settings: list, get, set, unset, explain.',
    positionals: ['VERB', 'KEY', 'VALUE'],
    offers: [oneOf(['list', 'get', 'set', 'unset', 'explain']), oneOf(settingKeys())],
    flags: [
      { name: 'project', kind: 'switch', summary: "set, unset: in this project's file instead of yours" },
      ...SETTING_FLAGS,
      JSON_FLAG,
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr config', 'every setting, its value, and where that comes from'],
      ['agentorchestr config explain limits.max_workers', 'and what it overrode'],
      ['agentorchestr config set limits.max_workers 4', 'in your own file; the rest of it stays'],
      ['agentorchestr config set agents one,two --project', "in this project's file"],
      ['agentorchestr config unset limits.max_workers', 'out of your file; says what holds now'],
      ['agentorchestr config get lead', 'the value alone'],
      ['agentorchestr config explain lead --lead one', 'what would hold with this flag'],
    ],
    run: async (host, parsed) => (await import('./commands/config.js')).config(host, parsed),
  },
  {
    name: 'demo',
    summary: 'Watch a goal become a verified branch, in a temporary folder.',
    positionals: [],
    flags: [
      {
        name: 'attach',
        kind: 'switch',
        negatable: true,
        summary: 'show the panes, or only heartbeat and summary',
      },
      {
        name: 'pace',
        kind: 'text',
        value: 'SECONDS',
        summary: 'pause between steps (default: 1 to watch, else 0)',
      },
      { name: 'keep', kind: 'switch', summary: 'leave the folder and the panes for a look' },
      JSON_FLAG,
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr demo', 'watch the panes'],
      ['agentorchestr demo --json --no-attach', 'one JSON object at the end'],
    ],
    run: async (host, parsed) => (await import('./commands/demo.js')).demo(host, parsed),
  },
  {
    name: 'completion',
    summary: 'Print tab completion for bash, zsh or fish.',
    positionals: ['SH'],
    offers: [oneOf(SHELLS)],
    flags: [HELP_FLAG],
    examples: installLines('agentorchestr'),
    run: async (host, parsed) =>
      (await import('./commands/completion.js')).completion(host, parsed.positionals),
  },
];
