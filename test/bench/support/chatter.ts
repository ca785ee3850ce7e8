import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const PROGRAM = fileURLToPath(new URL('chatter.mjs', import.meta.url));

/** Lines that programs say, without the programs: one process writes to all their terminals. Stops when `work` is over. */
export async function whileChatting<T>(
  { terminals, perSecond }: { terminals: readonly string[]; perSecond: number },
  work: () => Promise<T>,
): Promise<T> {
  const child = fork(PROGRAM, [String(perSecond), ...terminals], {
    ...{ env: { PATH: process.env['PATH'] }, execArgv: [] },
  });
  await once(child, 'message');
  try {
    return await work();
  } finally {
    const ended = once(child, 'exit');
    child.kill();
    await ended;
  }
}
