import { randomBytes } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ensurePrivateDirectory, removeFile } from '../../platform/files.js';
import type { ControlClient } from './types.js';

/** Above this a file is faster than an argument. */
const INLINE_BYTES = 8_192;

/**
 * A tmux buffer of our own with one text in it. Some tmux versions offer the newest buffer of any kind when a person
 * pastes, so it must not stand there for long.
 */
export interface PasteBuffer {
  /** Resolves when the text is in the buffer. */
  readonly loaded: Promise<void>;
  isLoaded(): boolean;
  /** Types the text into the pane, in brackets where its program asked for them, line ends kept; the buffer is gone then. */
  paste(paneId: string): Promise<void>;
  discard(): Promise<void>;
}

export function createPasteBuffer(
  client: ControlClient,
  directory: string,
  content: { text: string; bytes: number },
): PasteBuffer {
  const name = `agentorchestr-${randomBytes(8).toString('hex')}`;
  const loaded =
    content.bytes <= INLINE_BYTES
      ? client.command('set-buffer', '-b', name, '--', content.text).then(() => undefined)
      : loadFromFile(client, directory, name, content.text);
  let ready = false;
  // Whoever pastes sees the failure; nobody may be listening yet when it happens.
  loaded.then(
    () => (ready = true),
    () => undefined,
  );
  return {
    loaded,
    isLoaded: () => ready,
    async paste(paneId) {
      await client.command('paste-buffer', '-p', '-r', '-d', '-b', name, '-t', paneId);
    },
    async discard() {
      await loaded.then(() => client.command('delete-buffer', '-b', name)).catch(() => undefined);
    },
  };
}

async function loadFromFile(
  client: ControlClient,
  directory: string,
  name: string,
  text: string,
): Promise<void> {
  await ensurePrivateDirectory(directory);
  const path = join(directory, name);
  try {
    await writeFile(path, text, { mode: 0o600, flag: 'wx' });
    // tmux expands formats in the path.
    await client.command('load-buffer', '-b', name, path.replaceAll('#', '##'));
  } finally {
    await removeFile(path);
  }
}
