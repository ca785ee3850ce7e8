import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { PaneAgent } from '../../../../src/backends/tmux/pane-agent.js';
import { systemClock } from '../../../../src/platform/clock.js';
import { silentLogger } from '../../../../src/platform/logger.js';
import type { BackendEvent } from '../../../../src/backends/contract.js';
import { recorderLaunch } from '../../../support/recorder/launch.js';
import { createRig, until, type Persona, type Recorder, type Rig } from '../../../support/recorder/rig.js';

let rig: Rig;
beforeAll(async () => {
  rig = await createRig();
});
afterAll(() => rig.close());

const started = async (persona: Persona = {}, launch: Parameters<Rig['start']>[1] = {}) => {
  const recorder = await rig.start(persona, launch);
  await recorder.agent.ready();
  return recorder;
};
const prints = async (recorder: Recorder, text: string) => {
  recorder.command({ do: 'print', text });
  const last = text.split('\n').at(-1) ?? '';
  await until('it is printed', async () => (await recorder.agent.read(200)).includes(last));
};
const lines = (recorder: Recorder) => recorder.sentinels().map(({ line }) => line);

describe('the state of an agent', () => {
  it('is told as it changes, with what a dialog says, and idle only when it lasts', async () => {
    const recorder = await started({ workMs: 700 });
    await recorder.send('go').delivery;
    await until('the turn is over', () => recorder.states().slice(-2).join() === 'working,idle');
    recorder.command({ do: 'dialog', kind: 'permission', says: 'Run npm test?' });
    await until('it waits', () => recorder.states().at(-1) === 'waiting');
    recorder.command({ do: 'phase', phase: 'odd' });
    recorder.command({ do: 'closeDialog' });
    await until('it is unknown', () => recorder.states().at(-1) === 'unknown');
    expect(recorder.states().slice(recorder.states().indexOf('idle'))).toEqual([
      'idle',
      'working',
      'idle',
      'waiting',
      'unknown',
    ]);
    const waiting = recorder.events.find((event) => event.type === 'state' && event.state === 'waiting');
    expect(waiting).toMatchObject({
      workerId: 'w01',
      kind: 'permission',
      evidence: 'screen',
      text: expect.stringContaining('Run npm test?') as unknown,
    });
  });

  it('[C-17] is not idle in a pause of a turn that goes on', async () => {
    const recorder = await started();
    const from = recorder.states().length;
    for (let round = 0; round < 5; round++) {
      recorder.command({ do: 'phase', phase: 'working' });
      await until('it works', async () => (await recorder.agent.screen()).includes('working ·'));
      recorder.command({ do: 'phase', phase: 'idle' });
      await until('it rests', async () => (await recorder.agent.screen()).includes('ready ·'));
    }
    recorder.command({ do: 'phase', phase: 'working' });
    await until('it works', async () => (await recorder.agent.screen()).includes('working ·'));
    expect(recorder.states().slice(from)).not.toContain('idle');
  });

  it('[C-17] is working while a footer says so, whatever the composer looks like, and silent', async () => {
    const recorder = await started();
    recorder.command({ do: 'phase', phase: 'working' });
    await until('it works', () => recorder.states().at(-1) === 'working');
    const sending = recorder.send('later');
    const since = Date.now();
    await until('two quiet seconds are over', () => Date.now() - since > 2_000);
    expect(recorder.states().at(-1)).toBe('working');
    expect(sending.held).toEqual(['working']);
    recorder.command({ do: 'phase', phase: 'idle' });
    expect(await sending.delivery).toMatchObject({ outcome: 'submitted' });
  });

  it('costs nothing while nothing is drawn', async () => {
    const recorder = await started();
    await until('it is quiet', () => recorder.states().at(-1) === 'idle');
    const { client } = rig;
    const original = client.command.bind(client);
    let commands = 0;
    client.command = (...args) => {
      commands++;
      return original(...args);
    };
    // What was drawn before is looked at late on a busy machine; a look each so often would leave no such span.
    const spent = () => commands + recorder.events.length;
    let [since, before] = [Date.now(), spent()];
    await until('a while without any', () => {
      if (spent() !== before) [since, before] = [Date.now(), spent()];
      return Date.now() - since > 1_500;
    });
    expect(spent()).toBe(before);
    client.command = original;
  });

  it('is not ready within its time: AGENT_NOT_READY', async () => {
    const recorder = await rig.start({ startDelayMs: 60_000 }, { readyTimeoutMs: 300 });
    await expect(recorder.agent.ready()).rejects.toMatchObject({ code: 'AGENT_NOT_READY' });
    await rig.client.command('kill-pane', '-t', recorder.paneId);
  });

  it('is waited for until the caller gives up', async () => {
    const recorder = await rig.start({ startDelayMs: 60_000 });
    const controller = new AbortController();
    const ready = recorder.agent.ready(controller.signal).catch((error: unknown) => error);
    controller.abort(new Error('enough'));
    expect(await ready).toEqual(new Error('enough'));
    await rig.client.command('kill-pane', '-t', recorder.paneId);
  });
});

describe('[47] a sentinel line', () => {
  it('is found with its word, nonce and summary', async () => {
    const recorder = await started();
    await prints(
      recorder,
      '● WORKER_DONE[a1b2]: all tests pass\n│ WORKER_BLOCKED: need the key   │\nWORKER_FAILED[x]: no\nthe end',
    );
    await until('it is told', () => recorder.sentinels().length === 3);
    expect(recorder.sentinels()).toEqual([
      { word: 'done', nonce: 'a1b2', summary: 'all tests pass', line: 'WORKER_DONE[a1b2]: all tests pass' },
      { word: 'blocked', nonce: null, summary: 'need the key', line: 'WORKER_BLOCKED: need the key' },
      { word: 'failed', nonce: 'x', summary: 'no', line: 'WORKER_FAILED[x]: no' },
    ]);
  });

  it('inside prose is none', async () => {
    const recorder = await started();
    await prints(
      recorder,
      [
        'When I am done I print WORKER_DONE: and a summary.',
        '"WORKER_DONE: quoted"',
        '`WORKER_DONE: in code`',
        "'WORKER_FAILED[n]: x'",
        'WORKER_DONE without a colon',
        'WORKER_DONELY: no',
        'xWORKER_DONE: no',
        `${'long prose '.repeat(14)}WORKER_DONE: wrapped by the terminal`,
        'the end',
      ].join('\n'),
    );
    await until('it is quiet', () => recorder.states().at(-1) === 'idle');
    await prints(recorder, 'WORKER_DONE: real');
    await until('it is told', () => recorder.sentinels().length > 0);
    expect(lines(recorder)).toEqual(['WORKER_DONE: real']);
  });

  it('wrapped by the terminal is one', async () => {
    const recorder = await started();
    const summary = 'word '.repeat(60).trim();
    await prints(recorder, `WORKER_DONE[n1]: ${summary}\nthe end`);
    await until('it is told', () => recorder.sentinels().length > 0);
    expect(recorder.sentinels()).toEqual([
      { word: 'done', nonce: 'n1', summary, line: `WORKER_DONE[n1]: ${summary}` },
    ]);
  });

  it('is told once, however often it is redrawn or scrolls, and the same line printed again is new', async () => {
    const recorder = await started({ animate: true });
    await prints(recorder, 'WORKER_DONE: ok');
    await until('it is told', () => recorder.sentinels().length === 1);
    await prints(recorder, Array.from({ length: 300 }, (_, index) => `row ${index}`).join('\n'));
    await recorder.send('next task').delivery;
    await prints(recorder, 'WORKER_FAILED: mark');
    await until('the mark is told', () => lines(recorder).includes('WORKER_FAILED: mark'));
    expect(lines(recorder)).toEqual(['WORKER_DONE: ok', 'WORKER_FAILED: mark']);
    await prints(recorder, 'WORKER_DONE: ok\nafter');
    await until('the second is told', () => recorder.sentinels().length === 3);
    expect(lines(recorder).at(-1)).toBe('WORKER_DONE: ok');
  });

  it('on the screen before a send is told before that send types anything', async () => {
    const recorder = await started();
    recorder.command({ do: 'print', text: 'WORKER_DONE: first run' });
    await until('it is there', async () => (await recorder.agent.read(50)).includes('WORKER_DONE'));
    const told: string[][] = [];
    const observer = { held: () => undefined, typed: () => void told.push(lines(recorder)) };
    await recorder.agent.send('second run', { observer });
    expect(told).toEqual([['WORKER_DONE: first run']]);
  });

  it('that the program draws letter by letter is found', async () => {
    const recorder = await started({ alternate: true });
    await prints(recorder, `${'\n'.repeat(9)}above the box`);
    const spaced = [...'WORKER_DONE[n2]: by difference']
      .map((letter, index) => `\u001b[3;${index + 1}H${letter}`)
      .join('');
    recorder.command({ do: 'write', text: `\u001b7${spaced}\u001b8` });
    await until('it is told', () => recorder.sentinels().length === 1);
    expect(lines(recorder)).toEqual(['WORKER_DONE[n2]: by difference']);
  });

  it('printed as the last words of a program is told before its end is settled', async () => {
    const program = await rig.startProgram(['sh', '-c', 'sleep 0.3; printf "WORKER_DONE[n3]: last words"']);
    const dead = async () =>
      (await rig.client.command('display-message', '-p', '-t', program.paneId, '#{pane_dead}'))[0] === '1';
    await until('it ended', dead);
    await program.agent.markEnded(0);
    expect(lines(program)).toEqual(['WORKER_DONE[n3]: last words']);
  });
});

describe('[48] several sentinels', () => {
  it('are told in the order of the screen, the last one last', async () => {
    const recorder = await started();
    await prints(recorder, 'WORKER_DONE: early\nthinking again\nWORKER_FAILED: no, it is broken\nend');
    await until('both are told', () => recorder.sentinels().length === 2);
    expect(recorder.sentinels().map(({ word }) => word)).toEqual(['done', 'failed']);
  });
});

describe('an agent that was alive before us', () => {
  const adopt = (recorder: Recorder) => {
    const events: BackendEvent[] = [];
    recorder.agent.close();
    const agent = new PaneAgent({
      ...{
        client: rig.client,
        clock: systemClock,
        logger: silentLogger,
        workerId: 'w01',
        paneId: recorder.paneId,
        launch: recorderLaunch(),
      },
      bufferDirectory: join(rig.sandbox.root, 'buffers'),
      emit: (event) => void events.push(event),
    });
    const stop = rig.client.onOutput((paneId, data) => paneId === recorder.paneId && agent.onOutput(data));
    return { agent, events, close: () => (stop(), agent.close()) };
  };
  const observer = { held: () => undefined, typed: () => undefined };

  it('gets texts of several lines, although nobody saw it switch bracketed paste on', async () => {
    const recorder = await started();
    const adopted = adopt(recorder);
    await adopted.agent.ready();
    expect(await adopted.agent.send('one\ntwo', { observer })).toMatchObject({ outcome: 'submitted' });
    expect(recorder.submissions()).toEqual(['one\ntwo']);
    adopted.close();
  });

  it('has its old sentinels told only where a nonce names their run', async () => {
    const recorder = await started();
    await prints(recorder, 'WORKER_DONE: of some run\nWORKER_DONE[n9]: while nobody looked\nend');
    const adopted = adopt(recorder);
    await adopted.agent.ready();
    const found = adopted.events.flatMap((event) => (event.type === 'sentinels' ? event.sentinels : []));
    expect(found.map(({ line }) => line)).toEqual(['WORKER_DONE[n9]: while nobody looked']);
    adopted.close();
  });
});

describe('reading', () => {
  it('gives the last lines of the scrollback, wrapped lines joined, without styles', async () => {
    const recorder = await started();
    const long = 'x'.repeat(300);
    await prints(
      recorder,
      `${Array.from({ length: 200 }, (_, index) => `row ${index}`).join('\n')}\n\u001b[1;31m${long}\u001b[0m\nlast`,
    );
    await until(
      'the box is drawn',
      async () => (await recorder.agent.read(1)) === '  ready · ? for shortcuts',
    );
    const text = (await recorder.agent.read(100)).split('\n');
    expect(text).toHaveLength(100);
    expect(text).toContain(long);
    expect(text).toContain('row 150');
    expect(text.at(-1)).toBe('  ready · ? for shortcuts');
  });

  it('tells of output, but not of every chunk', async () => {
    const recorder = await started();
    const before = recorder.events.filter(({ type }) => type === 'output').length;
    const file = join(rig.sandbox.folder('noise'), 'noise');
    appendFileSync(file, 'noise\n'.repeat(20_000));
    const program = await rig.startProgram(['cat', file]);
    await until('it is printed', async () => (await program.agent.read(20)).includes('noise'));
    expect(before).toBeGreaterThan(0);
    expect(program.events.filter(({ type }) => type === 'output').length).toBeLessThan(10);
  });
});
