import { join } from 'node:path';
import { ensurePrivateDirectory, writeFileAtomic } from '../../platform/files.js';
import { handOverText } from '../context/engine-texts.js';
import type { EngineDeps } from './deps.js';
import type { NextDelivery } from './next-delivery.js';

/**
 * What can be typed to the agent and reaches its model as it was: the text itself, or, where the composer would change
 * it, take it for a command or refuse its size, one line that names a private file with exactly that text.
 */
export async function typeable(
  deps: EngineDeps,
  workerId: string,
  next: NextDelivery,
): Promise<NextDelivery> {
  const worker = deps.store.worker(deps.sessionId, workerId);
  const rules = worker === null ? null : (deps.launch(worker)?.paste ?? null);
  const bytes = Buffer.byteLength(next.text);
  if (rules === null || (bytes <= rules.limitBytes && rules.unsafe?.test(next.text) !== true)) return next;
  const folder = join(deps.workerDirectory(workerId), 'messages');
  await ensurePrivateDirectory(folder);
  const file = join(folder, `${next.messageIds[0]}.md`);
  await writeFileAtomic(file, next.text);
  return { ...next, text: handOverText(file, bytes), file };
}
