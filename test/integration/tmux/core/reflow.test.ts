import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { attachArguments } from '../../../../src/backends/tmux/attach.js';
import { RECORDER, recorderLaunch } from '../../../support/recorder/launch.js';
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

interface Shown {
  readonly window: string;
  readonly worker: string;
  readonly columns: number;
  readonly rows: number;
}

async function shown(world: TmuxWorld): Promise<readonly Shown[]> {
  const lines = await world.panes('#{window_name} #{@ao_worker} #{pane_width} #{pane_height}');
  return lines.map((line) => {
    const [window = '', worker = '', columns, rows] = line.split(' ');
    return { window, worker, columns: Number(columns), rows: Number(rows) };
  });
}

/** Workers per window, in the order of the windows. */
function windows(panes: readonly Shown[]): Record<string, string> {
  const names = [...new Set(panes.map(({ window }) => window))];
  return Object.fromEntries(
    names.map((name) => [
      name,
      panes
        .filter(({ window }) => window === name)
        .map(({ worker }) => worker)
        .join(' '),
    ]),
  );
}

function expectMinimum(panes: readonly Shown[]): void {
  expect(panes.filter(({ columns, rows }) => columns < 80 || rows < 20)).toEqual([]);
}

/** Panes below the minimum in a layout as tmux tells it; the topmost ones give a line to their label. */
function tooSmall(layout: string): readonly string[] {
  return [...layout.matchAll(/(\d+)x(\d+),\d+,(\d+),\d+/g)]
    .filter(([, columns, rows, y]) => Number(columns) < 80 || Number(rows) - (y === '0' ? 1 : 0) < 20)
    .map(([cell]) => cell);
}

/** An agent that notes every size its terminal has. */
const noteSizes = (file: string) => [
  '/bin/sh',
  '-c',
  `trap 'stty size >>${file}' WINCH; stty size >${file}; while :; do sleep 0.1; done`,
];

test('[55] twelve workers are spread anew for a smaller terminal and back; they run on, and take texts', async () => {
  const world = createTmuxWorld(sandbox);
  const { backend } = world;
  await backend.open();
  const folder = sandbox.folder('recorder');
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ directory: folder }));
  const specs = ['lead', ...workers(11)].map((id) => world.spec(id, WAIT));
  for (const spec of specs) await backend.start(spec);
  const recorder = [process.execPath, RECORDER, join(folder, 'config.json')];
  await backend.start(world.spec('w12', recorder, { launch: recorderLaunch() }));
  await backend.ready('w12');
  await backend.label('w07', 'w07 tester', { since: Date.now(), note: '1 held' });
  const identity = () => world.panes('#{@ao_worker} #{pane_id} #{pane_pid} #{pane_dead} #{@ao_label}');
  const before = await identity();
  const asMade = await world.panes('#{pane_id} #{window_name} #{pane_width}x#{pane_height}');
  const notice = async () => (await world.panes('#{@ao_notice}'))[0]?.trim();

  expect(await backend.reflow({ columns: 100, rows: 45 })).toMatchObject({ perWindow: 2, windows: 7 });
  const two = await shown(world);
  expectMinimum(two);
  expect(windows(two)).toEqual({
    agentorchestr: 'lead w01',
    'agentorchestr-2': 'w02 w03',
    'agentorchestr-3': 'w04 w05',
    'agentorchestr-4': 'w06 w07',
    'agentorchestr-5': 'w08 w09',
    'agentorchestr-6': 'w10 w11',
    'agentorchestr-7': 'w12',
  });
  expect(await notice()).toBe('2 panes per window at 100x45');
  expect(await identity()).toEqual(before);

  const { placed, ...sizes } = await backend.reflow({ columns: 80, rows: 24 });
  expect(sizes).toEqual({ perWindow: 1, windows: 13 });
  const one = await shown(world);
  expect(placed).toEqual(
    ['lead', ...Array.from({ length: 12 }, (_, index) => `w${String(index + 1).padStart(2, '0')}`)].map(
      (workerId, index) => ({ workerId, window: one[index]?.window }),
    ),
  );
  expect(one.map(({ window }) => window)).toEqual([
    'agentorchestr',
    ...one.slice(1).map((_, index) => `agentorchestr-${index + 2}`),
  ]);
  expect(new Set(one.map(({ columns, rows }) => `${columns}x${rows}`))).toEqual(new Set(['80x22']));
  expect(await notice()).toBe('1 pane per window at 80x24');
  const delivery = { observer: { held: () => undefined, typed: () => undefined } };
  expect(await backend.send('w12', 'what a\nsmall window', delivery)).toMatchObject({ outcome: 'submitted' });

  expect(await backend.reflow({ columns: 200, rows: 50 })).toMatchObject({ perWindow: 3, windows: 4 });
  expect(Object.values(windows(await shown(world)))).toEqual([
    'lead w01 w02',
    'w03 w04 w05 w06',
    'w07 w08 w09 w10',
    'w11 w12',
  ]);

  // The size that there was: a terminal of one more row for the status line.
  expect(await backend.reflow({ columns: 240, rows: 71 })).toMatchObject({ perWindow: 5, windows: 3 });
  expect(await world.panes('#{pane_id} #{window_name} #{pane_width}x#{pane_height}')).toEqual(asMade);
  expect(await notice()).toBe('');
  expect(await identity()).toEqual(before);
  expect(await world.panes('#{?@ao_note,#{@ao_worker} #{@ao_note},}')).toContain('w07 1 held');
  expect(await backend.send('w12', 'and a large one', delivery)).toMatchObject({ outcome: 'submitted' });
  const submissions = readFileSync(join(folder, 'submissions.jsonl'), 'utf8').trim().split('\n');
  expect(
    submissions.map((line) =>
      Buffer.from((JSON.parse(line) as { text: string }).text, 'base64').toString('utf8'),
    ),
  ).toEqual(['what a\nsmall window', 'and a large one']);
});

test('[55] no agent ever sees less than 80x20, however the terminal changes', async () => {
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  const notes = sandbox.folder('notes');
  const ids = ['lead', ...workers(6)];
  for (const id of ids) await world.backend.start(world.spec(id, noteSizes(join(notes, id))));
  const layouts: string[] = [];
  (await world.look()).onNotification((line) => {
    if (line.startsWith('layout-change ')) layouts.push(line.split(' ')[2] ?? '');
  });
  for (const [columns, rows] of [
    [200, 50],
    [240, 70],
    [60, 10],
    [120, 45],
    [240, 70],
    // Five in a window that gets lower: what tmux tells of that is a matter of luck.
    ...Array.from({ length: 6 }, () => [
      [100, 200],
      [161, 64],
    ]).flat(),
  ] as const) {
    await world.backend.reflow({ columns, rows });
    expectMinimum(await shown(world));
  }
  expect(layouts.length).toBeGreaterThan(20);
  expect(layouts.flatMap(tooSmall)).toEqual([]);
  const sizes = async (id: string) => readFileSync(join(notes, id), 'utf8').trim().split('\n');
  for (const { worker, columns, rows } of await shown(world))
    await until(
      async () => (await sizes(worker)).at(-1) === `${rows} ${columns}`,
      `${worker} knows its size`,
    );
  for (const id of ids)
    for (const size of await sizes(id)) {
      const [rows = 0, columns = 0] = size.split(' ').map(Number);
      expect([id, size, columns >= 80 && rows >= 20]).toEqual([id, size, true]);
    }
});

test('[55] an agent never begins in less than 80x20, however long tmux takes to lay its pane out', async () => {
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  const notes = sandbox.folder('notes');
  const client = await world.look();
  // What comes after the making of a pane waits for these; its program does not.
  for (const made of ['after-split-window', 'after-new-window'])
    await client.command('set-hook', '-g', made, 'run-shell "sleep 0.5"');
  const ids = ['lead', ...workers(4)];
  for (const id of ids) await world.backend.start(world.spec(id, noteSizes(join(notes, id))));
  for (const id of ids) {
    const noted = () => (existsSync(join(notes, id)) ? readFileSync(join(notes, id), 'utf8').trim() : '');
    await until(() => noted() !== '', `${id} knows its size`);
    const sizes = noted().split('\n');
    const tooSmallOnes = sizes.filter((size) => {
      const [rows = 0, columns = 0] = size.split(' ').map(Number);
      return columns < 80 || rows < 20;
    });
    expect([id, tooSmallOnes]).toEqual([id, []]);
  }
  expectMinimum(await shown(world));
});

test('[55] agents that start later, under the next supervisor too, go by the size that was asked for last', async () => {
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  for (const id of ['lead', 'w01', 'w02']) await world.backend.start(world.spec(id, WAIT));
  await world.backend.reflow({ columns: 100, rows: 45 });
  await world.backend.start(world.spec('w03', WAIT));
  expect(windows(await shown(world))).toEqual({ agentorchestr: 'lead w01', 'agentorchestr-2': 'w02 w03' });
  await world.backend.close({ destroy: false });
  const next = world.reopen();
  await next.backend.open();
  await next.backend.start(next.spec('w04', WAIT));
  const panes = await shown(next);
  expect(panes.at(-1)).toEqual({ window: 'agentorchestr-3', worker: 'w04', columns: 100, rows: 43 });
  expect((await next.panes('#{@ao_notice}'))[0]?.trim()).toBe('2 panes per window at 100x45');
});

test('[55] the text of an ended worker stays, its slot included; a new start beside a reflow is safe', async () => {
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  await world.backend.start(world.spec('lead', WAIT));
  await world.backend.start(world.spec('w01', ['/bin/sh', '-c', 'echo last words; exit 3']));
  await world.exit('w01');
  await Promise.all([
    ...['w02', 'w03', 'w04', 'w05', 'w06'].map((id) => world.backend.start(world.spec(id, WAIT))),
    world.backend.reflow({ columns: 80, rows: 24 }),
    world.backend.reflow({ columns: 200, rows: 50 }),
  ]);
  const panes = await shown(world);
  expectMinimum(panes);
  expect(panes.map(({ worker }) => worker).filter((id) => /^w0[2-6]$/.test(id))).toHaveLength(5);
  expect(await world.backend.read('w01', 1)).toBe('last words');
  expect(world.events.filter(({ type }) => type === 'lost' || type === 'place_lost')).toEqual([]);
});

test('[55] what a person made and looks at is left alone by a reflow', async () => {
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  for (const id of ['lead', ...workers(6)]) await world.backend.start(world.spec(id, WAIT));
  const client = await world.look();
  const [mine = ''] = await client.command(
    ...['new-window', '-d', '-n', 'mine', '-t', '7', '-P', '-F', '#{pane_id}', 'exec sleep 1000'],
  );
  await client.command('split-window', '-d', '-t', mine, 'exec sleep 1000');
  const mineNow = async () =>
    (await world.panes('#{window_name} #{window_index} #{pane_id} #{pane_width}x#{pane_height}')).filter(
      (line) => line.startsWith('mine'),
    );
  const before = await mineNow();
  const [w04 = ''] = (await world.panes('#{@ao_worker} #{pane_id}')).filter((line) => line.startsWith('w04'));
  await client.command('select-pane', '-t', w04.slice('w04 '.length));
  await world.backend.reflow({ columns: 100, rows: 45 });
  expect(await mineNow()).toEqual(before);
  expect(await client.command('display-message', '-p', '#{@ao_worker} #{window_name}')).toEqual([
    'w04 agentorchestr-3',
  ]);
  await world.backend.reflow({ columns: 240, rows: 70 });
  expect(await mineNow()).toEqual(before);
  expect(await client.command('display-message', '-p', '#{@ao_worker} #{window_name}')).toEqual([
    'w04 agentorchestr',
  ]);
});

test('a border says how long, by a clock that only runs while somebody looks', async () => {
  const world = createTmuxWorld(sandbox, { terminal: { columns: 170, rows: 70 } });
  await world.backend.open();
  for (const id of ['lead', 'w01', 'w02', 'w03']) await world.backend.start(world.spec(id, WAIT));
  const minutes = (count: number) => ({ since: Date.now() - count * 60_000 - 5_000 });
  await world.backend.label('lead', 'lead one · working', minutes(0));
  await world.backend.label('w01', 'w01 one · working', { ...minutes(4), note: '1 held #{pane_id}' });
  await world.backend.label('w02', 'w02 one · done', minutes(125));
  await world.backend.label('w03', 'w03 one', { note: 'x' });
  const client = await world.look();
  const interval = async () => (await client.command('show-options', '-gv', 'status-interval'))[0];
  expect(await interval()).toBe('0');
  const attach = attachArguments({
    socketName: world.socketName,
    sessionName: `agentorchestr-${world.sessionId}`,
  });
  const command = ['env', '-u', 'TMUX', ...attach];
  const terminal = await openTerminal(sandbox, { columns: 170, rows: 70 }, command);
  for (const text of [
    ' lead one · working · <1m ',
    ' w01 one · working · 4m · 1 held #{pane_id} ',
    ' w02 one · done · 2h5m ',
    ' w03 one · x ',
  ])
    await until(async () => (await terminal.screen()).includes(text), `the border shows ${text}`);
  await until(async () => (await interval()) === '15', 'it is drawn by the clock');
  await terminal.type('C-b', 'd');
  await until(async () => (await interval()) === '0', 'nobody looks any more');
});
