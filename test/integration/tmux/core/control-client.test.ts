import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { killServer } from '../../../../src/backends/tmux/attach.js';
import { connectControlClient } from '../../../../src/backends/tmux/control-client.js';
import { unescapeOutput } from '../../../../src/backends/tmux/control-parser.js';
import type { ControlClient } from '../../../../src/backends/tmux/types.js';
import { createSandbox, type Sandbox } from '../../../support/sandbox.js';

let sandbox: Sandbox;
let configFile: string;

beforeEach(() => {
  sandbox = createSandbox();
  configFile = join(sandbox.folder('conf'), 'tmux.conf');
  writeFileSync(configFile, 'set -g exit-empty on\n');
  sandbox.onClose(() => killServer({ socketName: 'control', env: sandbox.env }));
});
afterEach(async () => sandbox.close());

async function connect(
  initial: readonly string[],
  options: { env?: Record<string, string> } = {},
): Promise<ControlClient> {
  const client = await connectControlClient({
    socketName: 'control',
    configFile,
    env: { ...sandbox.env, ...options.env },
    initial,
  });
  sandbox.onClose(() => client.detach());
  return client;
}

const NEW_SESSION = ['new-session', '-s', 'main', '-x', '100', '-y', '30', 'cat'];

describe('the control client', () => {
  test('answers pipelined commands in order and any text comes back as it was sent', async () => {
    const client = await connect(NEW_SESSION);
    const texts = [
      '$HOME #{pane_id} ~ "q" \\n ; {x} é 日本 🎉',
      '%end 1 1 1',
      '-t',
      ...Array.from({ length: 200 }, (_, index) => `n${index}`),
    ];
    const answers = await Promise.all(
      texts.map(async (text, index) => {
        void client.command('set-option', '-g', `@o${index}`, text);
        return (await client.command('display-message', '-p', `#{@o${index}}`)).join('\n');
      }),
    );
    expect(answers).toEqual(texts);
  });

  test('fails where no server runs and none is to be started, and none is', async () => {
    const attach = { socketName: 'control', configFile, env: sandbox.env, initial: ['attach-session'] };
    await expect(connectControlClient({ ...attach, startsNone: true })).rejects.toMatchObject({
      code: 'TMUX_FAILED',
    });
    expect(readdirSync(sandbox.sockets, { recursive: true })).not.toContainEqual(
      expect.stringContaining('control'),
    );
    expect(sandbox.processes()).toEqual([]);
  });

  test("fails one command with tmux's own words and goes on", async () => {
    const client = await connect(NEW_SESSION);
    const failed = client.command('list-panes', '-t', '%999');
    const next = client.command('display-message', '-p', '#{session_name}');
    await expect(failed).rejects.toMatchObject({
      code: 'TMUX_FAILED',
      params: { command: 'list-panes', problem: "can't find pane: %999" },
    });
    expect(await next).toEqual(['main']);
  });

  test('delivers what a pane prints byte for byte', async () => {
    const client = await connect(NEW_SESSION);
    const chunks: Buffer[] = [];
    const arrived = new Promise<string>((resolve) => {
      client.onOutput((paneId, data) => {
        chunks.push(Buffer.from(unescapeOutput(data)));
        if (chunks.at(-1)?.includes('\n')) resolve(`${paneId} ${Buffer.concat(chunks).toString()}`);
      });
    });
    await client.command('send-keys', '-t', '%0', '-l', '--', 'zürich\\');
    await client.command('send-keys', '-t', '%0', 'Enter');
    expect(await arrived).toMatch(/^%0 zürich\\\r\n/);
  });

  test('[C-34] answers hold tabs and glyphs under LC_ALL=C', async () => {
    const client = await connect(NEW_SESSION, { env: { LC_ALL: 'C', LANG: 'C' } });
    expect(await client.command('display-message', '-p', 'a\tb é 🎉')).toEqual(['a\tb é 🎉']);
  });

  test('detaching leaves the server running, and a lost server fails what waits with TMUX_LOST', async () => {
    const first = await connect(NEW_SESSION);
    const pid = Number((await first.command('display-message', '-p', '#{pid}'))[0]);
    await first.detach();
    await expect(first.command('list-panes')).rejects.toMatchObject({ code: 'TMUX_LOST' });

    const second = await connect(['attach-session', '-t', '=main']);
    expect(await second.command('display-message', '-p', '#{pid}')).toEqual([String(pid)]);
    process.kill(pid, 'SIGSTOP');
    const waiting = second.command('list-panes');
    process.kill(pid, 'SIGKILL');
    await expect(waiting).rejects.toMatchObject({ code: 'TMUX_LOST' });
    expect(await second.closed).toBe('server exited unexpectedly');
  });
});

test('a session that is not there fails the connection, and a name is never taken for a prefix [C-28]', async () => {
  const client = await connect(['new-session', '-s', 'api-2', 'cat']);
  await expect(connect(['attach-session', '-t', '=api'])).rejects.toMatchObject({ code: 'TMUX_FAILED' });
  await client.command('list-panes');
});

test('a missing tmux is TMUX_MISSING', async () => {
  await expect(connect(NEW_SESSION, { env: { PATH: sandbox.folder('empty') } })).rejects.toMatchObject({
    code: 'TMUX_MISSING',
  });
});
