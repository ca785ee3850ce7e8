import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../src/core/clock.js';
import type { BackendEvent } from '../../../src/backends/contract.js';
import type { Look } from '../../../src/backends/tmux/pane-view.js';
import type { Reading } from '../../../src/backends/tmux/screen.js';
import { PaneWatcher } from '../../../src/backends/tmux/watcher.js';
import { silentLogger } from '../../../src/platform/logger.js';

const idle: Reading = {
  state: 'idle',
  kind: null,
  text: '',
  shown: '',
  dialog: null,
  composer: { text: '' },
};
const working: Reading = { ...idle, state: 'working' };
const dialog = (text: string): Reading => ({
  state: 'waiting',
  kind: 'permission',
  text,
  shown: text,
  dialog: null,
  composer: null,
});

/** A pane that shows what it is told to, and time that stands still until it is moved. */
function watched() {
  let time = 1_000;
  const tasks: { readonly dueAt: number; readonly run: () => void }[] = [];
  const clock: Clock = {
    now: () => time,
    after(delayMs, run) {
      const task = { dueAt: time + delayMs, run };
      tasks.push(task);
      return () => void (tasks.includes(task) && tasks.splice(tasks.indexOf(task), 1));
    },
  };
  const pane = { reading: idle, lines: [] as readonly string[], looks: 0 };
  const screen = { rows: [], solid: [], cursor: { row: 0, column: 0 } };
  const view = {
    lookShared: (): Promise<Look> => {
      pane.looks++;
      const facts = {
        dead: false,
        inMode: false,
        inputOff: false,
        alternate: false,
        keptPasteMode: null,
        tty: '',
      };
      return Promise.resolve({ ...facts, screen, reading: pane.reading });
    },
    lines: () => Promise.resolve(pane.lines),
  };
  const events: BackendEvent[] = [];
  const watcher = new PaneWatcher({
    view,
    clock,
    logger: silentLogger,
    workerId: 'w01',
    emit: (event) => void events.push(event),
  });
  const settle = async () => {
    for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  };
  return {
    watcher,
    pane,
    settle,
    states: () =>
      events.flatMap((event) =>
        event.type === 'state' ? [event.text === '' ? event.state : `${event.state}: ${event.text}`] : [],
      ),
    sentinels: () =>
      events.flatMap((event) => (event.type === 'sentinels' ? event.sentinels.map(({ line }) => line) : [])),
    timers: () => tasks.length,
    async show(reading: Reading) {
      pane.reading = reading;
      watcher.output('none');
      await settle();
    },
    async advance(ms: number) {
      await settle();
      const end = time + ms;
      for (;;) {
        const next = tasks.filter(({ dueAt }) => dueAt <= end).sort((a, b) => a.dueAt - b.dueAt)[0];
        if (next === undefined) break;
        tasks.splice(tasks.indexOf(next), 1);
        time = Math.max(time, next.dueAt);
        next.run();
        await settle();
      }
      time = end;
    },
  };
}

describe('watching a pane', () => {
  it('believes an idle screen when it has stood for 200 ms, and then rests', async () => {
    const { watcher, show, advance, states, timers, pane } = watched();
    await show(idle);
    await advance(190);
    expect([states(), watcher.settled, watcher.ready]).toEqual([[], null, false]);
    await advance(10);
    expect([states(), watcher.settled, watcher.ready, timers()]).toEqual([['idle'], idle, true, 0]);
    const { looks } = pane;
    await advance(3_600_000);
    expect(pane.looks).toBe(looks);
  });

  it('[C-17] tells of work and dialogs at once, but not of a rest shorter than 200 ms', async () => {
    const { show, advance, states } = watched();
    await show(working);
    expect(states()).toEqual(['working']);
    for (let pause = 0; pause < 5; pause++) {
      await show(idle);
      await advance(150);
      await show(working);
      await advance(1_000);
    }
    expect(states()).toEqual(['working']);
    await advance(1_000);
    await show(dialog('Sure?'));
    await advance(1);
    expect(states()).toEqual(['working', 'waiting: Sure?']);
  });

  it('tells of a failure again when it is the same in another place, though no work was seen between', async () => {
    const failed = (shown: string): Reading => ({ ...idle, state: 'error', text: '■ no', shown });
    const { show, advance, states } = watched();
    for (const shown of ['one\n■ no', 'one\n■ no', 'one\n■ no\ntwo\n■ no']) {
      await show(failed(shown));
      await advance(1_000);
    }
    expect(states()).toEqual(['error: ■ no', 'error: ■ no']);
  });

  it('believes a screen that says the same through endless redrawing', async () => {
    const { show, advance, states, watcher } = watched();
    for (let frame = 0; frame < 5; frame++) {
      await show(idle);
      await advance(80);
    }
    expect([states(), watcher.settled]).toEqual([['idle'], idle]);
  });

  it('reads a screen that is drawn without pause twice a second once it is believed', async () => {
    const { show, advance, pane } = watched();
    await show(working);
    await advance(1_000);
    const { looks } = pane;
    for (let frame = 0; frame < 100; frame++) {
      await show(working);
      await advance(20);
    }
    expect(pane.looks - looks).toBeLessThanOrEqual(5);
  });

  it('tells what a dialog says again only when it has stopped changing', async () => {
    const { show, advance, states } = watched();
    await show(dialog('Sure? 1 s'));
    for (let second = 2; second < 9; second++) {
      await advance(90);
      await show(dialog(`Sure? ${second} s`));
    }
    await advance(200);
    expect(states()).toEqual(['waiting: Sure? 1 s', 'waiting: Sure? 8 s']);
  });

  it('believes nothing once we have typed, until the screen was read again', async () => {
    const { watcher, show, advance } = watched();
    await show(idle);
    await advance(200);
    watcher.unsettle();
    expect(watcher.settled).toBeNull();
    await advance(300);
    expect(watcher.settled).toEqual(idle);
  });

  it('tells a sentinel at once when its line is whole, else when it has had time to become so', async () => {
    const { watcher, pane, settle, advance, sentinels } = watched();
    pane.lines = ['WORKER_DONE: a'];
    watcher.output('complete');
    await settle();
    expect(sentinels()).toEqual(['WORKER_DONE: a']);
    await advance(1_000);
    pane.lines = ['WORKER_DONE: a', 'WORKER_FAILED: b and'];
    watcher.output('begun');
    await advance(100);
    expect(sentinels()).toHaveLength(1);
    pane.lines = ['WORKER_DONE: a', 'WORKER_FAILED: b and more'];
    watcher.output('none');
    await advance(300);
    expect(sentinels()).toEqual(['WORKER_DONE: a', 'WORKER_FAILED: b and more']);
  });

  it('tells all sentinels printed so far when asked to', async () => {
    const { watcher, pane, settle, sentinels } = watched();
    watcher.output('complete');
    await settle();
    pane.lines = ['WORKER_DONE: just now'];
    watcher.output('complete');
    await settle();
    expect(sentinels()).toEqual([]);
    await watcher.flushSentinels();
    expect(sentinels()).toEqual(['WORKER_DONE: just now']);
  });

  it('tells nothing after it is closed', async () => {
    const { watcher, show, advance, states, timers } = watched();
    await show(idle);
    watcher.close();
    await advance(1_000);
    expect([states(), timers()]).toEqual([[], 0]);
  });
});
