// Records docs/demo.svg: the demo as a person sees it, on a terminal of a private tmux server. Usage: npm run record-demo
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, hostname, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { renderPicture } from './lib/terminal-picture.mjs';
import { parseScreen } from './lib/terminal-screen.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = join(root, 'docs/demo.svg');
/** The smallest that shows the lead with two workers side by side. */
const SIZE = { columns: 161, rows: 43 };
const EVERY_MS = 100;
const LIMIT_MS = 180_000;
const LIMIT_BYTES = 150_000;

/** In the order in which they come; the screen is taken at the first look that has it all. */
const MOMENTS = [
  { caption: 'It says first what will run, and with which rights', seconds: 3, has: [/^prompts /m] },
  {
    caption: 'The lead splits the goal and spawns workers',
    seconds: 4,
    has: [/w01 implementer scripted · running/, /w02 implementer/, /spawn_worker\(task: Add a test/],
  },
  {
    caption: 'Workers side by side, each in its own git worktree',
    seconds: 5,
    has: [/write src\/words.*\n(.*\n)*.*edit src\/tools.*edit src\/tools/, /wait_for_worker/],
  },
  { caption: 'The lead reads what they did, and foresees a conflict', seconds: 4, has: [/⎿ overlaps/] },
  {
    caption: 'The conflict goes back to the worker, who resolves it',
    seconds: 5,
    has: [/went back to w02/, /w02 implementer scripted · running/, /resolve/],
  },
  { caption: 'Verified at exactly one commit', seconds: 4, has: [/● Verified: passed/] },
  {
    caption: 'Done: the result, with every pane still there to read',
    seconds: 3,
    has: [/leaves in \d+ s/, /The goal is done/],
    keys: ['Enter'],
  },
  {
    caption: 'One verified branch, and the line that merges it',
    seconds: 5,
    has: [/^merge +git merge/m, /is removed again/],
  },
];
const STILL = 2;
const DESCRIPTION =
  'A terminal with agentorchestr demo: a lead agent in the upper pane, two workers below it side by side; at the end one verified branch and the command that merges it.';

const folder = mkdtempSync(join(tmpdir(), 'record-'));
try {
  const frames = await record();
  const picture = renderPicture({ frames, ...SIZE, still: STILL, description: DESCRIPTION });
  refuseToTell(picture);
  writeFileSync(target, picture);
  console.log(`docs/demo.svg: ${frames.length} moments, ${Math.round(picture.length / 1024)} kB`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function record() {
  const terminal = openTerminal();
  try {
    const frames = [];
    for (const moment of MOMENTS) {
      frames.push({ ...moment, screen: await terminal.shows(moment.has) });
      console.log(`· ${moment.caption}`);
      if (moment.keys !== undefined) terminal.tmux('send-keys', ...moment.keys);
    }
    return frames;
  } finally {
    terminal.tmux('kill-server');
  }
}

/** A person's terminal who has nothing of this machine: no name, no settings, paths as short as anybody's. */
function openTerminal() {
  const home = join(folder, 'home');
  const bin = join(folder, 'bin');
  mkdirSync(home);
  mkdirSync(bin);
  const path = `${bin}:${dirname(process.execPath)}:${process.env.PATH}`;
  const env = { PATH: path, HOME: home, TMPDIR: '/tmp', LANG: 'C.UTF-8', TERM: 'xterm-256color', PS1: '$ ' };
  writeFileSync(
    join(bin, 'agentorchestr'),
    `#!/bin/sh\nexec node '${join(root, 'bin/agentorchestr.cjs')}' "$@"\n`,
    {
      mode: 0o755,
    },
  );
  const tmux = (...command) =>
    execFileSync('tmux', ['-u', '-f', '/dev/null', '-S', join(folder, 'tmux'), ...command], {
      env,
      encoding: 'utf8',
      timeout: 20_000,
    });
  const size = ['-x', String(SIZE.columns), '-y', String(SIZE.rows)];
  // The shell must not look as if it were inside tmux: the demo would not show its panes there.
  tmux('new-session', '-d', ...size, '-c', home, 'env', '-u', 'TMUX', '-u', 'TMUX_PANE', 'sh');
  tmux('set-option', '-g', 'status', 'off');
  tmux('send-keys', 'agentorchestr demo', 'Enter');
  return { tmux, shows: (patterns) => firstScreen(() => tmux('capture-pane', '-e', '-p', '-N'), patterns) };
}

async function firstScreen(look, patterns) {
  const until = performance.now() + LIMIT_MS;
  for (;;) {
    const screen = look();
    const plain = parseScreen(screen)
      .map((runs) => runs.map(({ text }) => text).join(''))
      .join('\n');
    if (patterns.every((pattern) => pattern.test(plain))) return screen;
    if (performance.now() > until)
      throw new Error(`never seen: ${patterns.join(' ')}; the last screen:\n${plain}`);
    await sleep(EVERY_MS);
  }
}

/** Others look at the picture. */
function refuseToTell(picture) {
  const words = new Set(picture.split(/[^\w.-]+/));
  const told = [root, folder, homedir()].filter((path) => picture.includes(path));
  if (words.has(hostname())) told.push(hostname());
  if (told.length > 0) throw new Error(`the picture tells about this machine: ${told.join(', ')}`);
  if (picture.length > LIMIT_BYTES) throw new Error(`the picture has ${picture.length} bytes`);
}
