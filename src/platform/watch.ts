import { watch } from 'node:fs';

/**
 * Calls `listener` with the name of every entry that changes in `directory` (not below). Names may repeat; a burst may
 * be one call. Returns unwatch. An unwatchable folder (gone, or no watches left) is reported through `onError`.
 */
export function watchDirectory(
  directory: string,
  listener: (name: string) => void,
  onError: (error: Error) => void,
): () => void {
  try {
    const watcher = watch(directory, { persistent: false }, (_kind, name) => {
      if (name !== null) listener(String(name));
    });
    watcher.on('error', onError);
    return () => watcher.close();
  } catch (error) {
    onError(error as Error);
    return () => undefined;
  }
}
