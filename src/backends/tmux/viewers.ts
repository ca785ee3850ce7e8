import { statusText } from './pane-maker.js';
import type { ControlClient } from './types.js';

export async function showStatus(client: ControlClient, target: string, text: string): Promise<void> {
  await client.command('set-option', '-t', target, '@ao_status', statusText(text));
}

/** What the person should know about the place itself, at the right end of the status line. */
export async function showNotice(client: ControlClient, target: string, text: string): Promise<void> {
  await client.command('set-option', '-t', target, '@ao_notice', statusText(text));
}

/** Detaches every terminal of a person; connections like ours stay. */
export async function detachViewers(client: ControlClient): Promise<void> {
  const clients = await client.command('list-clients', '-F', '#{client_control_mode} #{client_name}');
  const viewers = clients.filter((line) => line.startsWith('0 ')).map((line) => line.slice(2));
  await Promise.all(viewers.map((viewer) => client.command('detach-client', '-t', viewer)));
}
