import { createReadStream, createWriteStream } from 'node:fs';
import { rename, rm } from 'node:fs/promises';
import { pipeline } from 'node:stream/promises';

/**
 * Replaces a file by what `change` makes of its lines, whole or not at all. One in which nothing changes, or that is not
 * there, stays as it is. Lines are bytes as characters (latin1), so that whatever is in them comes through.
 */
export async function rewriteLines(path: string, change: (text: string) => string): Promise<void> {
  const temporary = `${path}.tmp`;
  let isChanged = false;
  const changed = (text: string) => {
    const result = change(text);
    isChanged ||= result !== text;
    return Buffer.from(result, 'latin1');
  };
  try {
    await pipeline(
      createReadStream(path),
      async function* (blocks: AsyncIterable<Buffer>) {
        let rest = '';
        for await (const block of blocks) {
          const text = block.toString('latin1');
          const end = text.lastIndexOf('\n') + 1;
          if (end > 0) yield changed(rest + text.slice(0, end));
          rest = end > 0 ? text.slice(end) : rest + text;
        }
        if (rest !== '') yield changed(rest);
      },
      createWriteStream(temporary, { mode: 0o600 }),
    );
    if (isChanged) await rename(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}
