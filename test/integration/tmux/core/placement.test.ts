import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { attachArguments } from '../../../../src/backends/tmux/attach.js';
import { createSandbox, type Sandbox } from '../../../support/sandbox.js';
import { createTmuxWorld, openTerminal, until, type TmuxWorld } from '../../../support/tmux.js';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(async () => sandbox.close());

const WAIT = ['/bin/sh', '-c', 'echo up; exec sleep 1000'];
const workers = (count: number) =>
  Array.from({ length: count }, (_, index) => `w${String(index + 1).padStart(2, '0')}`);
const layout = (world: TmuxWorld) => world.panes('#{window_name} #{@ao_worker} #{pane_width}x#{pane_height}');

async function startAll(world: TmuxWorld, ids: readonly string[]): Promise<void> {
  for (const id of ids) await world.backend.start(world.spec(id, WAIT));
}

describe('panes', () => {
  test('[55] a window holds the lead and four workers, the fifth opens agentorchestr-2, a freed slot is used again', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    await startAll(world, ['lead', ...workers(5)]);
    expect(await layout(world)).toEqual([
      'agentorchestr lead 240x23',
      'agentorchestr w01 120x22',
      'agentorchestr w02 119x22',
      'agentorchestr w03 120x22',
      'agentorchestr w04 119x22',
      'agentorchestr-2 w05 240x69',
    ]);
    await world.backend.stop('w02', { graceMs: 1_000 });
    const { paneId } = await world.backend.start(world.spec('w06', WAIT));
    expect(paneId).not.toBe('%2');
    expect((await layout(world)).slice(0, 5)).toEqual([
      'agentorchestr lead 240x23',
      'agentorchestr w01 120x22',
      'agentorchestr w06 119x22',
      'agentorchestr w03 120x22',
      'agentorchestr w04 119x22',
    ]);
  });

  test('[111] one that is alone has the whole first window, its next process as well', async () => {
    const world = createTmuxWorld(sandbox, { terminal: { columns: 110, rows: 40 }, hasLead: false });
    await world.backend.open();
    const { paneId } = await world.backend.start(
      world.spec('w01', ['/bin/sh', '-c', 'echo was here; exit 0']),
    );
    expect(await layout(world)).toEqual(['agentorchestr w01 110x38']);
    await world.exit('w01');
    expect((await world.backend.start(world.spec('w01', WAIT, { attemptId: 'second' }))).paneId).toBe(paneId);
    expect(await layout(world)).toEqual(['agentorchestr w01 110x38']);
  });

  test('[55] the text of an ended worker is still read after its pane was given to another, by the next supervisor too', async () => {
    const world = createTmuxWorld(sandbox, { terminal: { columns: 80, rows: 24 } });
    await world.backend.open();
    await world.backend.start(world.spec('lead', WAIT));
    await world.backend.start(world.spec('w01', ['/bin/sh', '-c', 'seq 1 3000; echo "ünd 日本"; exit 0']));
    await world.exit('w01');
    await world.backend.start(world.spec('w02', WAIT));
    expect(await layout(world)).toEqual(['agentorchestr lead 80x22', 'agentorchestr-2 w02 80x22']);
    expect((await world.backend.read('w01', 3)).split('\n')).toEqual(['2999', '3000', 'ünd 日本']);
    expect((await world.backend.read('w01', 5000)).split('\n')).toHaveLength(3001);
    await world.backend.close({ destroy: false });
    const next = world.reopen();
    await next.backend.open();
    expect(await next.backend.read('w01', 1)).toBe('ünd 日本');
    expect(await next.backend.read('w02', 1)).toBe('up');
    await expect(next.backend.read('w09', 1)).rejects.toMatchObject({ code: 'UNKNOWN_WORKER' });
  });

  test('the text of every pane is kept in its worker’s folder when the place is destroyed', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    const specs = [world.spec('lead', WAIT), world.spec('w01', ['/bin/sh', '-c', 'echo done; exit 0'])];
    for (const spec of specs) await world.backend.start(spec);
    await world.exit('w01');
    await world.backend.close({ destroy: true });
    const texts = specs.map(({ directory, workerId, attemptId }) =>
      readFileSync(join(directory, `${workerId}.${attemptId}.text`), 'utf8'),
    );
    expect(texts).toEqual(['up\n', 'done\n']);
  });

  test('ten workers started at once each get their own pane, at most five in a window', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    await world.backend.start(world.spec('lead', WAIT));
    const started = await Promise.all(workers(10).map((id) => world.backend.start(world.spec(id, WAIT))));
    expect(new Set(started.map(({ paneId }) => paneId)).size).toBe(10);
    const perWindow = new Map<string, number>();
    for (const { window } of started) perWindow.set(window ?? '', (perWindow.get(window ?? '') ?? 0) + 1);
    expect(Object.fromEntries(perWindow)).toEqual({
      agentorchestr: 4,
      'agentorchestr-2': 5,
      'agentorchestr-3': 1,
    });
  });

  test('a lead that ended gets its own place again', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    await world.backend.start(world.spec('lead', ['/bin/sh', '-c', 'echo first; exit 1']));
    await world.backend.start(world.spec('w01', WAIT));
    await world.exit('lead');
    expect(await world.backend.start(world.spec('lead', WAIT))).toMatchObject({
      paneId: '%0',
      window: 'agentorchestr',
    });
    await until(
      async () => (await world.backend.read('lead', 10)) === 'up',
      'the new lead, without the text of the old one',
    );
    expect(await layout(world)).toEqual(['agentorchestr lead 240x34', 'agentorchestr w01 240x34']);
  });

  test('what a person did to the windows is left alone and disturbs nothing', async () => {
    const world = createTmuxWorld(sandbox);
    await world.backend.open();
    await startAll(world, ['lead', 'w01']);
    const client = await world.look();
    await client.command('split-window', '-d', '-t', '%0', 'sleep 1000');
    await client.command('new-window', '-d', '-n', 'mine', 'sleep 1000');
    await client.command('move-window', '-r', '-s', '%0', '-t', '7').catch(() => undefined);
    await startAll(world, ['w02', 'w03', 'w04']);
    const shown = await layout(world);
    expect(shown.filter((line) => line.startsWith('mine'))).toHaveLength(1);
    expect(shown.filter((line) => line.startsWith('agentorchestr '))).toHaveLength(5);
    expect(shown.filter((line) => line.startsWith('agentorchestr-2 w04'))).toHaveLength(1);
  });
});

describe('sizes', () => {
  test.each([
    {
      terminal: { columns: 200, rows: 50 },
      windows: [3, 4],
      size: '200x49',
      notice: '3 panes per window at 200x50',
    },
    {
      terminal: { columns: 120, rows: 45 },
      windows: [2, 2, 2, 1],
      size: '120x44',
      notice: '2 panes per window at 120x45',
    },
    {
      terminal: { columns: 80, rows: 24 },
      windows: [1, 1, 1, 1, 1, 1, 1],
      size: '80x23',
      notice: '1 pane per window at 80x24',
    },
    { terminal: { columns: 240, rows: 64 }, windows: [5, 2], size: '240x63', notice: '' },
  ])(
    'no pane is smaller than 80x20 on a terminal of $terminal.columns x $terminal.rows, and the status line says so',
    async ({ terminal, windows, size, notice }) => {
      const world = createTmuxWorld(sandbox, { terminal });
      await world.backend.open();
      await startAll(world, ['lead', ...workers(6)]);
      const panes = await world.panes(
        '#{window_id} #{pane_width} #{pane_height} #{window_width}x#{window_height}',
      );
      for (const pane of panes) {
        const [, width, height, whole] = pane.split(' ');
        expect([Number(width) >= 80, Number(height) >= 20, whole]).toEqual([true, true, size]);
      }
      const counts = new Map<string, number>();
      for (const pane of panes)
        counts.set(pane.split(' ')[0] ?? '', (counts.get(pane.split(' ')[0] ?? '') ?? 0) + 1);
      expect([...counts.values()]).toEqual(windows);
      expect((await world.panes('#{@ao_notice}'))[0]).toBe(notice);
    },
  );

  test('[C-24] twelve workers started with nobody attached keep their size when small terminals attach and leave', async () => {
    const world = createTmuxWorld(sandbox, { readingMs: 1 });
    await world.backend.open();
    // It says its size at its start and at every change, at once: `wait` is left when the signal comes.
    const REPORT = [
      '/bin/sh',
      '-c',
      'trap "stty size" WINCH; stty size; while :; do sleep 9 & wait; kill $!; done',
    ];
    await startAll(world, ['lead']);
    for (const id of workers(12)) await world.backend.start(world.spec(id, REPORT));
    const before = await layout(world);
    expect(before).toHaveLength(13);
    for (const line of before) expect(Number(/(\d+)x/.exec(line)?.[1])).toBeGreaterThanOrEqual(80);

    const texts = () => Promise.all(workers(9).map((id) => world.backend.read(id, 50)));
    const sizesTold = async () => {
      const panes = await world.panes('#{pane_height} #{pane_width}');
      const told = (await texts()).map((text) => text.trimEnd().split('\n').at(-1));
      return told.every((size, index) => size === panes[index + 1]);
    };
    await until(sizesTold, 'every worker has heard of its size');
    const textsBefore = await texts();
    const attach = attachArguments({
      socketName: world.socketName,
      sessionName: `agentorchestr-${world.sessionId}`,
    });
    const command = ['env', '-u', 'TMUX', ...attach];
    const small = await openTerminal(sandbox, { columns: 80, rows: 24 }, command);
    await until(
      async () => /\[0\] 1 2 +Ctrl-b n next · /.test(await small.screen()),
      'the first viewer shows the windows, and how to reach the next',
    );
    await openTerminal(sandbox, { columns: 20, rows: 5 }, command);
    const looking = await world.look();
    const attached = () =>
      looking.command('list-clients', '-F', '#{client_control_mode} #{client_width}x#{client_height}');
    await until(async () => (await attached()).includes('0 20x5'), 'the tiny one is attached');
    expect(await layout(world)).toEqual(before);
    await world.backend.start(world.spec('w13', REPORT));
    expect((await layout(world)).at(-1)).toBe('agentorchestr-3 w13 119x34');
    expect(await texts()).toEqual(textsBefore);

    await world.backend.releaseViewers('the session is over', { mayStay: true });
    await until(
      async () => (await attached()).every((client) => client.startsWith('1 ')),
      'both viewers are let go',
    );
    expect(await layout(world)).toHaveLength(14);
  });
});

test('borders and the status line show what they are told, styles and control characters as text', async () => {
  const world = createTmuxWorld(sandbox, { terminal: { columns: 170, rows: 50 } });
  await world.backend.open();
  await startAll(world, ['lead', 'w01']);
  await world.backend.label('w01', 'w01 tester codex · working · 4m #[fg=red]\n#{pane_id}');
  await world.backend.status('2 of 3 done #[bg=red] ü');
  await world.backend.label('w77', 'nobody');
  const attach = attachArguments({
    socketName: world.socketName,
    sessionName: `agentorchestr-${world.sessionId}`,
  });
  const terminal = await openTerminal(sandbox, { columns: 170, rows: 50 }, ['env', '-u', 'TMUX', ...attach]);
  await until(
    async () => (await terminal.screen()).includes(' w01 tester codex · working · 4m #[fg=red] #{pane_id} '),
    'the border',
  );
  expect(await terminal.screen()).toContain('2 of 3 done #[bg=red] ü');
});
