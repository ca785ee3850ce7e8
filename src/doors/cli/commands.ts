import type { CliHost } from './host.js';
import { HELP_FLAG, JSON_FLAG, SETTING_FLAGS, type Flag } from './flags.js';
import type { Parsed } from './parse.js';

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Names of what is given without a flag, in order; all may be left out unless the command says otherwise. */
  readonly positionals: readonly string[];
  readonly flags: readonly Flag[];
  readonly examples: readonly (readonly [command: string, what: string])[];
  run(host: CliHost, parsed: Parsed): Promise<number>;
}

const json = (parsed: Parsed) => ({ json: parsed.isOn('json') ?? false });

/** Written by hand, because they stream, attach or ask; every other command is an operation of the table. */
export const COMMANDS: readonly Command[] = [
  {
    name: 'attach',
    summary: 'Show the panes; Ctrl-b d leaves them, Ctrl-b P pauses.',
    positionals: ['ID'],
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
    flags: [JSON_FLAG, HELP_FLAG],
    examples: [['agentorchestr pause 3f2a', 'pause this session']],
    run: async (host, parsed) =>
      (await import('./commands/pause.js')).pause(host, parsed.positionals[0], json(parsed)),
  },
  {
    name: 'stop',
    summary: 'End a session as failed; it can still be resumed.',
    positionals: ['ID'],
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
    flags: [
      {
        name: 'to',
        kind: 'text',
        value: 'DIR',
        summary: 'into this folder; a new or empty one becomes a worktree',
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
  {
    name: 'config',
    summary: 'Settings: list, get, set, unset, explain.',
    positionals: ['VERB', 'KEY', 'VALUE'],
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
];
