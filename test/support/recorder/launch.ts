import { fileURLToPath } from 'node:url';
import type { DialogChoice, InteractiveLaunch, Screen } from '../../../src/agents/contract.js';
import { linePromptComposer } from '../../../src/agents/screen-kit.js';

export const RECORDER = fileURLToPath(new URL('./recorder.mjs', import.meta.url));

const CHOICE = /^([❯ ]) (?:(\d)\. )?(\S.*)$/;

/** The rows next above the footer that look like choices. */
function choices({ rows }: Screen): readonly DialogChoice[] {
  const footer = rows.findLastIndex((row) => row !== '');
  const above = rows.slice(0, footer).map((row) => CHOICE.exec(row));
  const found = above.slice(above.findLastIndex((match) => match === null) + 1);
  return found.map((match, index) => ({
    number: Number(match?.[2] ?? index + 1),
    label: match?.[3] ?? '',
    selected: match?.[1] === '❯',
  }));
}

/** How the recorder is driven: what an adapter says of a real agent. `extra.config` is its config file. */
export function recorderLaunch(overrides: Partial<InteractiveLaunch> = {}): InteractiveLaunch {
  return {
    argv: (context) => [process.execPath, RECORDER, context.extra['config'] ?? ''],
    readyTimeoutMs: 20_000,
    screen: {
      recordedVersion: '1',
      tailRows: 12,
      // The last row drawn is the footer: nothing that was typed or answered can stand below it.
      states: [
        { when: /\n {2}permission · enter confirms\s*$/, means: 'waiting', kind: 'permission' },
        { when: /\n {2}trust · enter confirms\s*$/, means: 'waiting', kind: 'trust' },
        {
          when: /\n {2}permission · a digit chooses\s*$/,
          means: 'waiting',
          kind: 'permission',
          dialog: { choices, by: 'digit' },
        },
        {
          when: /\n {2}trust · arrows and enter\s*$/,
          means: 'waiting',
          kind: 'trust',
          dialog: { choices, by: 'move', consented: { to: 'trust', choice: /^Yes/ } },
        },
        { when: /\n {2}(-- \w+ -- )?working · esc to interrupt\s*$/, means: 'working' },
        { when: /\n {2}(-- \w+ -- )?ready · \? for shortcuts\s*$/, means: 'idle' },
      ],
      composer: linePromptComposer({ prompt: /^> ?/, above: /^─{8,}$/, end: /^─{8,}$/ }),
    },
    keys: { submit: 'Enter', interrupt: 'Escape', redrawCapMs: 500, submitDelayMs: 0 },
    steers: false,
    paste: { limitBytes: 8_000_000, unsafe: null },
    hooks: null,
    transcript: null,
    resumeErrors: null,
    toolsAtStart: false,
    mcpCallLimitMs: 45_000,
    ...overrides,
  };
}
