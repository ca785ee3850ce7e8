import { readdirSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { until } from '../../support/tmux.js';
import { openPty } from './pty.js';
import { CliRig } from './rig.js';

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create({ NO_COLOR: '' });
});
afterEach(() => rig.close());

/** Of the demo's own: the sandbox checks the rest when it closes. */
const left = () => readdirSync(rig.world.sandbox.temp);

describe('the demo', () => {
  it('prints one JSON object, on a machine whose git knows nobody, and leaves nothing', async () => {
    const { code, stdout } = await rig.run(['demo', '--json', '--no-attach'], {
      env: { HOME: rig.world.sandbox.folder('empty') },
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({
      state: 'done',
      session_id: expect.stringMatching(/^[0-9a-f]{8}$/) as string,
      branch: expect.stringMatching(/^agentorchestr\/[0-9a-f]{8}\/integration$/) as string,
      merge_command: expect.stringMatching(/^git merge agentorchestr\//) as string,
      workers: [
        { worker_id: 'w01', state: 'done', integrated: true },
        { worker_id: 'w02', state: 'done', integrated: true },
        { worker_id: 'w03', state: 'done', integrated: true },
      ],
      verify: { state: 'passed', commands: [{ exit_code: 0 }, { exit_code: 0 }, { exit_code: 0 }] },
    });
    expect(left()).toEqual([]);
    expect(readdirSync(rig.paths.data)).toEqual([]);
  });

  it.each(['SIGINT', 'SIGHUP'] as const)(
    'leaves nothing when it gets %s half way, twice even',
    async (signal) => {
      const started = rig.start(['demo', '--no-attach']);
      await started.says(/1 (starting|idle|running)/);
      started.child.kill(signal);
      started.child.kill(signal);
      const { code, stdout } = await started.finished;
      expect(code).toBe(2);
      expect(stdout).toMatch(/session [0-9a-f]{8} {2}paused/);
      expect(left()).toEqual([]);
    },
  );

  it('shows its panes on a terminal, goes on when they are left, and cleans up after Ctrl-C', async () => {
    const pty = openPty(rig, ['demo', '--pace', '60']);
    await pty.shows(/working · esc to interrupt/);
    pty.keys('C-b', 'd');
    await pty.shows(/The demo goes on here; Ctrl-C ends it\./);
    expect(left()).toHaveLength(1);
    pty.keys('C-c');
    expect(await pty.ended()).toBe(2);
    await until(() => left().length === 0, 'an empty temporary folder');
  });
});
