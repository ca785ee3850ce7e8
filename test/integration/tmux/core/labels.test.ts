import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { EventData, EventName } from '../../../../src/core/events/index.js';
import { systemClock } from '../../../../src/platform/clock.js';
import type { LiveSession, SessionContext } from '../../../../src/services/session-context.js';
import { followLabels } from '../../../../src/services/supervise/labels.js';
import { openStore } from '../../../../src/store/open-store.js';
import { sampleEvent, SESSION } from '../../../support/sample-events.js';
import { createSandbox, type Sandbox } from '../../../support/sandbox.js';
import { createTmuxWorld, until } from '../../../support/tmux.js';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(async () => sandbox.close());

/** Every event comes a minute after the one before. */
const isoMinute = (minute: number) => new Date(Date.UTC(2030, 0, 1, 12, minute)).toISOString();

const WAIT = ['/bin/sh', '-c', 'echo up; exec sleep 1000'];

test('a border shows state, since when, and how many messages are held, and the others stay as they are', async () => {
  const world = createTmuxWorld(sandbox);
  await world.backend.open();
  for (const id of ['w01', 'w02']) await world.backend.start(world.spec(id, WAIT));
  const store = openStore({ path: join(sandbox.root, 'state.db'), clock: systemClock });
  sandbox.onClose(() => store.close());
  // Only what the labels stand on.
  const context = { sessionId: SESSION, store, clock: systemClock } as unknown as SessionContext;
  sandbox.onClose(followLabels(context, { backend: world.backend } as LiveSession));
  const tell = <Name extends EventName>(type: Name, data: Partial<EventData<Name>> = {}, worker = 'w01') =>
    store.append(sampleEvent(type, data, { worker_id: worker, at: isoMinute(minute++) }));
  let minute = 0;
  const client = await world.look();
  const shows = async (worker: string, text: string, note: string) => {
    const format = '#{@ao_worker}|#{@ao_label}|#{@ao_note}';
    await until(
      async () =>
        (await client.command('list-panes', '-s', '-F', format)).includes(`${worker}|${text}|${note}`),
      `${worker} shows ${text} ${note}`,
    );
  };
  const since = async (worker: string) =>
    Number(
      (await client.command('list-panes', '-s', '-F', '#{@ao_worker} #{@ao_since}'))
        .find((line) => line.startsWith(worker))
        ?.slice(worker.length),
    );

  store.append(sampleEvent('session.created'));
  for (const worker of ['w01', 'w02']) {
    tell('worker.created', { perspective: 'tester' }, worker);
    tell('worker.started', { attempt_id: `attempt-${worker}` }, worker);
    tell('worker.ready', { attempt_id: `attempt-${worker}` }, worker);
  }
  tell('worker.working');
  await shows('w01', 'w01 tester scripted · running', '');
  await shows('w02', 'w02 tester scripted · idle', '');
  const began = Date.parse(isoMinute(minute - 1)) / 1_000;
  expect(await since('w01')).toBe(began);

  for (const message_id of ['one', 'two', 'three']) tell('message.accepted', { message_id });
  tell('message.held', { message_id: 'one', reason: 'human_draft' });
  await shows('w01', 'w01 tester scripted · running', '1 held');
  tell('message.held', { message_id: 'two', reason: 'dialog' });
  await shows('w01', 'w01 tester scripted · running', '2 held');
  await shows('w02', 'w02 tester scripted · idle', '');
  tell('message.typed', { message_id: 'one' });
  await shows('w01', 'w01 tester scripted · running', '1 held');
  tell('message.refused', { message_id: 'two' });
  await shows('w01', 'w01 tester scripted · running', '');
  // Messages are no new state.
  expect(await since('w01')).toBe(began);
  tell('worker.idle');
  await shows('w01', 'w01 tester scripted · idle', '');
  expect(await since('w01')).toBe(Date.parse(isoMinute(minute - 1)) / 1_000);
});
