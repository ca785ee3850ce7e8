import { FOLDERS, oneOf, SESSIONS, several } from '../shared/completion/offers.js';
import type { Command } from './command.js';
import { HELP_FLAG, JSON_FLAG } from './flags.js';
import type { Parsed } from './parse.js';
import { SETUP_COMMANDS } from './setup-commands.js';

const json = (parsed: Parsed) => ({ json: parsed.isOn('json') ?? false });

/** Written by hand, because they stream, attach or ask; every other command is an operation of the table. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'attach',
    summary: 'Show the panes; Ctrl-b d leaves them, Ctrl-b P pauses.',
    positionals: ['ID'],
    offers: [SESSIONS],
    flags: [
      {
        name: 'fit',
        kind: 'switch',
        summary: 'first arrange the panes for this terminal, for everybody who looks',
      },
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr attach', 'the newest session of this project'],
      ['agentorchestr attach 3f2a', 'a session by the beginning of its id'],
      ['agentorchestr attach --fit', 'with as many panes per window as fit this terminal'],
      ['Ctrl-b P', 'in the panes: pause the session (asks first; Ctrl-C goes to the agent)'],
      ['Ctrl-b Ctrl-b P', 'the same inside a tmux of your own: the first Ctrl-b is for yours'],
    ],
    run: async (host, parsed) =>
      (await import('./commands/attach.js')).attach(host, parsed.positionals[0], {
        fit: parsed.isOn('fit') ?? false,
      }),
  },
  {
    name: 'status',
    summary: 'Show state, workers, verification, branch and merge command.',
    positionals: ['ID'],
    offers: [SESSIONS],
    flags: [
      {
        name: 'watch',
        kind: 'switch',
        short: 'w',
        summary: 'keep it up to date until the session is over; q leaves',
      },
      { ...JSON_FLAG, summary: 'print one JSON document (--watch: one per line and change)' },
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr status', 'the newest session of this project; names others that run'],
      ['agentorchestr status --watch', 'a table that changes as things happen; exits as the session ends'],
      ['agentorchestr status 3f2a --json', 'as one JSON object'],
      ['agentorchestr status 3f2a --watch --json', 'one JSON object per change, for scripts'],
    ],
    run: async (host, parsed) =>
      (await import('./commands/status.js')).status(host, parsed.positionals[0], {
        ...json(parsed),
        watch: parsed.isOn('watch') ?? false,
      }),
  },
  {
    name: 'log',
    summary: 'Show what happened, one line per event (-f: and happens).',
    positionals: ['ID'],
    offers: [SESSIONS],
    flags: [
      {
        name: 'follow',
        kind: 'switch',
        short: 'f',
        summary: 'go on with what happens, until the session is over',
      },
      { name: 'worker', kind: 'text', value: 'ID', summary: 'only this worker (w01 …, or lead)' },
      { name: 'output', kind: 'switch', summary: 'what its own terminal shows, instead of events' },
      { ...JSON_FLAG, summary: 'one JSON object per line' },
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr log -f', 'follow the newest session'],
      ['agentorchestr log 3f2a --worker w01', 'what one worker did'],
      ['agentorchestr log --worker w01 --output -f', 'what it says in its own terminal, as it goes on'],
    ],
    run: async (host, parsed) => (await import('./commands/log.js')).log(host, parsed),
  },
  {
    name: 'attention',
    summary: 'Show what waits for you, and how to answer it.',
    positionals: ['ID'],
    offers: [SESSIONS],
    flags: [
      {
        name: 'watch',
        kind: 'switch',
        short: 'w',
        summary: 'go on with what comes, until the session is over',
      },
      JSON_FLAG,
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr attention', 'of the session that runs here'],
      ['agentorchestr attention 3f2a --json', 'as one JSON object'],
      ['agentorchestr attention --watch', 'and ring when something new waits'],
    ],
    run: async (host, parsed) => (await import('./commands/attention.js')).attention(host, parsed),
  },
  {
    name: 'answer',
    summary: 'Answer the prompt or question that a worker waits with.',
    positionals: ['WORKER'],
    flags: [
      { name: 'choice', kind: 'text', value: 'N', summary: 'the number of one of its choices' },
      { name: 'text', kind: 'text', value: 'TEXT', summary: 'the answer to a question' },
      {
        name: 'prompt-hash',
        kind: 'text',
        value: 'HASH',
        summary: 'which prompt is meant, as attention shows it (without: you are shown it and asked)',
      },
      { name: 'message', kind: 'text', value: 'TEXT', summary: 'what the agent is told with a refusal' },
      {
        name: 'session',
        kind: 'text',
        value: 'ID',
        summary: 'which session (default: the one that runs here)',
        offers: SESSIONS,
      },
      JSON_FLAG,
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr answer w02 --choice 1 --prompt-hash 9f1c2ab03d4e', 'this very prompt, or none'],
      ['agentorchestr answer w02 --choice 1', 'on a terminal: shows the prompt and asks first'],
      ['agentorchestr answer w03 --text "blue" --prompt-hash 0a1b2c3d4e5f', 'what a worker asked'],
    ],
    run: async (host, parsed) => (await import('./commands/answer.js')).answer(host, parsed),
  },
  {
    name: 'pause',
    summary: 'End the agents; conversations, worktrees and branches stay.',
    positionals: ['ID'],
    offers: [SESSIONS],
    flags: [JSON_FLAG, HELP_FLAG],
    examples: [['agentorchestr pause 3f2a', 'pause this session']],
    run: async (host, parsed) =>
      (await import('./commands/pause.js')).pause(host, parsed.positionals[0], json(parsed)),
  },
  {
    name: 'stop',
    summary: 'End a session as failed; it can still be resumed.',
    positionals: ['ID'],
    offers: [SESSIONS],
    flags: [
      { name: 'reason', kind: 'text', value: 'TEXT', summary: 'why, for the record' },
      JSON_FLAG,
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr stop', 'the session that runs here'],
      ['agentorchestr stop 3f2a --reason "wrong goal"', 'and say why'],
      ['agentorchestr pause 3f2a', 'to go on later, with nothing said of failure'],
    ],
    run: async (host, parsed) =>
      (await import('./commands/stop.js')).stop(host, parsed.positionals[0], {
        reason: parsed.text('reason') ?? '',
        ...json(parsed),
      }),
  },
  {
    name: 'merge',
    summary: 'Bring the result of a finished session into your checkout.',
    positionals: ['ID'],
    offers: [SESSIONS],
    flags: [
      { name: 'anyway', kind: 'switch', summary: 'also when its goal was not reached' },
      JSON_FLAG,
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr merge', 'the newest session of this project'],
      [
        'agentorchestr merge 3f2a',
        'as --apply would have done; refused when something of yours is in the way',
      ],
    ],
    run: async (host, parsed) => (await import('./commands/merge.js')).merge(host, parsed),
  },
  {
    name: 'clean',
    summary: 'Remove what finished sessions left; work is kept under refs.',
    positionals: ['ID…'],
    offers: [several(SESSIONS)],
    flags: [
      { name: 'all-done', kind: 'switch', summary: 'every session that reached its goal' },
      {
        name: 'dry-run',
        kind: 'switch',
        summary: 'only show what would go, what is kept, and how large it is',
      },
      {
        name: 'give-up',
        kind: 'switch',
        summary: 'also named sessions that could be resumed; they cannot be afterwards',
      },
      { name: 'yes', kind: 'switch', summary: 'do not ask' },
      JSON_FLAG,
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr clean 3f2a --dry-run', 'what would go'],
      ['agentorchestr clean --all-done', 'shows it, and asks'],
      ['agentorchestr clean 3f2a --give-up --yes', 'a paused or failed session, for good'],
    ],
    run: async (host, parsed) => (await import('./commands/clean.js')).clean(host, parsed),
  },
  {
    name: 'salvage',
    summary: 'Show work that was kept (list), or bring it back (restore).',
    positionals: ['WHAT…'],
    offers: [oneOf(['list', 'restore'])],
    flags: [
      {
        name: 'to',
        kind: 'text',
        value: 'DIR',
        summary: 'into this folder; a new or empty one becomes a worktree',
        offers: FOLDERS,
      },
      { name: 'branch', kind: 'text', value: 'NAME', summary: 'as a new branch of the repository' },
      JSON_FLAG,
      HELP_FLAG,
    ],
    examples: [
      ['agentorchestr salvage list', 'of every session'],
      ['agentorchestr salvage restore 3f2a/w01 --to ../w01', 'as the worker left it, uncommitted files too'],
      ['agentorchestr salvage restore 3f2a/w01 --branch rescue', 'as commits of a new branch'],
    ],
    run: async (host, parsed) => (await import('./commands/salvage.js')).salvage(host, parsed),
  },
  ...SETUP_COMMANDS,
];
