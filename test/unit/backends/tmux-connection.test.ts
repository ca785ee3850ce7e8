import { describe, expect, it } from 'vitest';
import { TmuxConnection } from '../../../src/backends/tmux/connection.js';
import type { ControlClient } from '../../../src/backends/tmux/types.js';
import { systemClock } from '../../../src/platform/clock.js';
import { silentLogger } from '../../../src/platform/logger.js';

function createClient() {
  let end: (reason: string) => void = () => undefined;
  const client: ControlClient = {
    command: () => Promise.resolve([]),
    onOutput: () => () => undefined,
    onNotification: () => () => undefined,
    closed: new Promise((resolve) => (end = resolve)),
    detach: () => Promise.resolve(),
  };
  return { client, end };
}

function createConnection() {
  const first = createClient();
  let attached = () => undefined as void;
  const attachedAgain = new Promise<void>((resolve) => (attached = resolve));
  let attaches = 0;
  const connection = new TmuxConnection(first.client, {
    attach() {
      attaches++;
      attached();
      return Promise.resolve(createClient().client);
    },
    // As in the moment in which a server that ends has told its clients, and is still there.
    existence: () => Promise.resolve('yes'),
    clock: systemClock,
    logger: silentLogger,
    onReconnected: () => undefined,
    onGap: () => undefined,
  });
  return { connection, end: first.end, attachedAgain, attaches: () => attaches };
}

describe('the connection to tmux', () => {
  it('is made again when its client ends', async () => {
    const { end, attachedAgain, attaches } = createConnection();
    end('killed');
    await attachedAgain;
    expect(attaches()).toBe(1);
  });

  it('is not made again when it ends because we end the server', async () => {
    const { connection, end, attaches } = createConnection();
    connection.leave();
    end('server exited');
    // What the other test waits for would have happened within these.
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve));
    await connection.detach();
    expect(await connection.closed).toBe('we left');
    expect(attaches()).toBe(0);
  });
});
