import { execFileSync } from 'node:child_process';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { until } from '../../support/tmux.js';
import { openPty } from './pty.js';
import { CliRig, SILENT_LEAD } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

const LEAD_WITH_WORKERS = `lead:
  - match: '^# Goal$'
    steps:
      - call: spawn_worker
        with: { task: Wait one, perspective: implementer }
      - call: spawn_worker
        with: { task: Wait two, perspective: tester }
      - silence: true
workers:
  - steps: [{ silence: true }]
`;

async function startSession(script: string, env: Record<string, string> = {}) {
  const args = ['--goal', 'x', '--yes', '--no-attach', '--verify', 'true', ...rig.playing(script)];
  const running = rig.start(args, { env });
  const [, sessionId = ''] = await running.says(/session ([0-9a-f]{8}) runs/);
  const socket = rig.look((store) => store.session(sessionId)?.tmux_socket) ?? '';
  const tmux = (...command: string[]) =>
    execFileSync('tmux', ['-u', '-S', socket, ...command], { env: rig.env, encoding: 'utf8' })
      .trim()
      .split('\n');
  return { sessionId, tmux };
}

it('[55] attach --fit arranges the panes of a running session for this terminal; reflow for any other', async () => {
  const { sessionId, tmux } = await startSession(LEAD_WITH_WORKERS);
  const panes = () =>
    tmux('list-panes', '-s', '-F', '#{window_name} #{@ao_worker} #{window_width}x#{window_height}');
  await until(() => panes().some((line) => line.includes(' w02 ')), 'both workers', 60_000);
  expect(panes()).toEqual(['lead', 'w01', 'w02'].map((id) => `agentorchestr ${id} 240x70`));

  const pty = openPty(rig, ['attach', sessionId, '--fit']);
  await pty.shows(/1 pane per window at 110x36/);
  expect(panes()).toEqual([
    'agentorchestr lead 110x35',
    'agentorchestr-2 w01 110x35',
    'agentorchestr-3 w02 110x35',
  ]);
  await pty.shows(/── lead scripted · working · (<1|\d)m ──/);
  pty.keys('C-b', 'd');
  expect(await pty.ended()).toBe(20);

  const { code, stdout } = await rig.run(['reflow', '--columns', '170', '--rows', '70', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual({ columns: 170, rows: 70, panes_per_window: 5, windows: 1 });
  expect(panes()).toEqual(['lead', 'w01', 'w02'].map((id) => `agentorchestr ${id} 170x69`));

  const nobody = await rig.run(['reflow']);
  expect(nobody.code).toBe(64);
  expect(nobody.stderr).toContain('"columns" is not valid');
});

it('[C-27] AGENTORCHESTR_TMUX_CONFIG brings the person’s own settings into the panes, on top of ours', async () => {
  const config = rig.file('mine.conf', 'set -g prefix C-a\nset -g remain-on-exit off\n');
  const { tmux } = await startSession(SILENT_LEAD, { AGENTORCHESTR_TMUX_CONFIG: config });
  expect(tmux('show-options', '-gv', 'prefix')).toEqual(['C-a']);
  // What our own work rests on stays.
  expect(tmux('show-options', '-gv', 'remain-on-exit')).toEqual(['on']);
});
