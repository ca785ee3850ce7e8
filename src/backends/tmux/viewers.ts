import { open } from 'node:fs/promises';
import { constants } from 'node:fs';
import { statusText } from './labels.js';
import type { ControlClient } from './types.js';

export async function showStatus(client: ControlClient, target: string, text: string): Promise<void> {
  await client.command('set-option', '-t', target, '@ao_status', statusText(text));
}

/** What the person should know about the place itself, at the right end of the status line. */
export async function showNotice(client: ControlClient, target: string, text: string): Promise<void> {
  await client.command('set-option', '-t', target, '@ao_notice', statusText(text));
}

/** What tmux says when a terminal came or went. */
export const VIEWERS_CHANGED = /^client-(session-changed|detached) /;
/** How old the times on the borders may be, seconds. */
const REDRAW_S = 15;

/** The server draws by the clock while somebody looks, and has no timer at all when nobody does. */
export async function drawForViewers(client: ControlClient): Promise<void> {
  await drawEvery(client, (await viewers(client)).length === 0 ? 0 : REDRAW_S);
}

/** For when our own connection, which would be drawn for too, is about to go: then there are only viewers left. */
export async function drawForWhoComes(client: ControlClient): Promise<void> {
  await drawEvery(client, REDRAW_S);
}

export async function detachViewer(client: ControlClient, name: string): Promise<void> {
  await client.command('detach-client', '-t', name);
}

/** Rings in the terminal of every person who looks, whatever window they look at; tmux itself tells only of other windows. */
export async function ringViewers(client: ControlClient): Promise<void> {
  const clients = await client.command('list-clients', '-F', '#{client_control_mode} #{client_tty}');
  const terminals = clients.filter((line) => line.startsWith('0 /dev/')).map((line) => line.slice(2));
  await Promise.allSettled(terminals.map(ring));
}

/** A stopped terminal must not stop us. */
async function ring(terminal: string): Promise<void> {
  const { O_WRONLY, O_NOCTTY, O_NONBLOCK } = constants;
  const file = await open(terminal, O_WRONLY | O_NOCTTY | O_NONBLOCK);
  try {
    await file.write('\u0007');
  } finally {
    await file.close();
  }
}

async function drawEvery(client: ControlClient, seconds: number): Promise<void> {
  await client.command('set-option', '-g', 'status-interval', String(seconds));
}

/** A terminal of a person; connections like ours are none. */
export interface Viewer {
  readonly name: string;
  readonly keyTable: string;
}

export async function viewers(client: ControlClient): Promise<readonly Viewer[]> {
  const format = '#{client_control_mode} #{client_key_table} #{client_name}';
  const clients = await client.command('list-clients', '-F', format);
  return clients
    .filter((line) => line.startsWith('0 '))
    .map((line) => {
      const [, keyTable = '', ...name] = line.split(' ');
      return { keyTable, name: name.join(' ') };
    });
}
