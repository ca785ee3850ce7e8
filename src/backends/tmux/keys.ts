import type { ControlClient } from './types.js';

/**
 * Keys of a person, bound in the server of the session only. A binding tells us by selecting the session that is
 * selected already: tmux says so to every connection (VIEWERS_CHANGED), whatever its version.
 */

/** The keys of a terminal that shows the end of a session and was not touched since. */
export const OVER_TABLE = 'ao-over';
/** After the prefix; tmux itself has no use for it. */
export const PAUSE_KEY = 'P';

/** Said again by every supervisor: an earlier one may have bound less, a person's own file something else. */
export async function bindKeys(
  client: ControlClient,
  place: { target: string; sessionId: string },
): Promise<void> {
  const { target, sessionId } = place;
  const select = ['switch-client', '-E', '-t', target];
  const ask = [
    `set-option -t '${target}' @ao_asked pause`,
    'display-message "asked to pause the session"',
    `switch-client -E -t '${target}'`,
  ].join(' ; ');
  const prompt = `pause session ${sessionId}? (y/n) its agents are ended; it can be resumed`;
  const bind = (table: string, key: string, ...command: string[]) =>
    client.command('bind-key', '-T', table, key, ...command);
  await Promise.all([
    client.command('set-option', '-u', '-t', target, '@ao_asked'),
    client.command('set-option', '-u', '-t', target, '@ao_over'),
    bind('prefix', PAUSE_KEY, 'confirm-before', '-p', prompt, ask),
    bind(OVER_TABLE, 'Enter', 'detach-client'),
    bind(OVER_TABLE, 'Any', ...select),
  ]);
}

/** From here on nobody would hear it. */
export async function unbindPause(client: ControlClient): Promise<void> {
  await client.command('unbind-key', '-T', 'prefix', PAUSE_KEY);
}

/** Whether somebody pressed the key that pauses since this was asked last. */
export async function wasPauseAsked(client: ControlClient, target: string): Promise<boolean> {
  const [asked = ''] = await client.command('display-message', '-p', '-t', target, '#{@ao_asked}');
  if (asked !== 'pause') return false;
  await client.command('set-option', '-u', '-t', target, '@ao_asked');
  return true;
}
