import type { Clock } from '../../core/clock.js';
import { OVER_TABLE, unbindPause } from './keys.js';
import type { ControlClient } from './types.js';
import { detachViewer, VIEWERS_CHANGED, viewers } from './viewers.js';

export interface Farewell {
  /** `$n` of the one tmux session. */
  readonly target: string;
  readonly clock: Clock;
  readonly afterMs: number;
  /** The place stays: somebody who touches a key may read on for as long as they like. */
  readonly mayStay: boolean;
}

/**
 * Lets every viewer of a session that is over go: one who presses Enter at once, one who touches nothing after
 * `afterMs`. Resolves when nobody is waited for.
 */
export async function letViewersGo(client: ControlClient, options: Farewell): Promise<void> {
  const { target, afterMs, mayStay } = options;
  const keys = `leaves in ${Math.ceil(afterMs / 1_000)} s · Enter: now${mayStay ? ' · any other key: stays' : ''}`;
  await client.command('set-option', '-t', target, '@ao_over', keys);
  const there = await viewers(client);
  await Promise.allSettled([
    unbindPause(client),
    ...there.map(({ name }) => client.command('switch-client', '-c', name, '-T', OVER_TABLE)),
    ...there.map(({ name }) => client.command('refresh-client', '-S', '-t', name)),
  ]);
  await nobodyWaits(client, options);
  await Promise.allSettled((await waiting(client, mayStay)).map((name) => detachViewer(client, name)));
}

/** Resolves when every terminal was left or touched, when the time is over, or when there is no place any more. */
function nobodyWaits(client: ControlClient, { clock, afterMs, mayStay }: Farewell): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      cancel();
      unhear();
      resolve();
    };
    const cancel = clock.after(afterMs, finish);
    const look = () =>
      void waiting(client, mayStay).then(
        (names) => names.length === 0 && finish(),
        () => undefined,
      );
    const unhear = client.onNotification((line) => {
      if (VIEWERS_CHANGED.test(line)) look();
    });
    void client.closed.then(finish);
    look();
  });
}

async function waiting(client: ControlClient, mayStay: boolean): Promise<readonly string[]> {
  return (await viewers(client))
    .filter(({ keyTable }) => !mayStay || keyTable === OVER_TABLE)
    .map(({ name }) => name);
}
