import type { BackendEvent } from '../contract.js';
import { bindKeys, wasPauseAsked } from './keys.js';
import type { ControlClient } from './types.js';
import { drawForViewers, VIEWERS_CHANGED } from './viewers.js';

/**
 * Gives people at their terminals their keys, and looks after them whenever tmux says that one came, went or pressed a
 * key of ours. Returns a way to look at once: what was said while a connection was broken is lost.
 */
export function followViewers(
  client: ControlClient,
  place: {
    target: string;
    sessionId: string;
    emit(event: BackendEvent): void;
    onFailure(error: unknown): void;
  },
): () => Promise<void> {
  bindKeys(client, place).catch(place.onFailure);
  const look = async () => {
    try {
      if (await wasPauseAsked(client, place.target)) place.emit({ type: 'pause_asked' });
      await drawForViewers(client);
    } catch (error) {
      place.onFailure(error);
    }
  };
  client.onNotification((line) => {
    if (VIEWERS_CHANGED.test(line)) void look();
  });
  return look;
}
