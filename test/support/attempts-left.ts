import { ATTEMPT_VARIABLE } from '../../src/platform/launch/launcher.js';
import { processesWithVariable } from '../../src/platform/process-tree.js';

/** How many processes of these attempts stay: one that was just ended may take a moment to be gone. */
export async function attemptsLeft(ids: readonly string[]): Promise<number> {
  const deadline = Date.now() + 3_000;
  for (;;) {
    const found = (await Promise.all(ids.map((id) => processesWithVariable(ATTEMPT_VARIABLE, id)))).flat();
    if (found.length === 0 || Date.now() > deadline) return found.length;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
