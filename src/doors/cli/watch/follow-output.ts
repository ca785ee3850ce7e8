import type { CliHost } from '../host.js';
import { plain } from '../output/plain.js';
import { coalesce } from './coalesce.js';
import { SETTLE_LIMIT_MS } from './finish.js';

/** As much of a terminal as can be asked for. */
const LINES = 2_000;

/**
 * Prints what a worker's own terminal shows. With `follow` also what it shows more, whenever something happened to the
 * worker, until its session is over; a screen that was redrawn is printed from where it differs.
 */
export async function followOutput(
  host: CliHost,
  sessionId: string,
  { worker, follow, json }: { worker: string; follow: boolean; json: boolean },
): Promise<void> {
  const { terminal } = host;
  const tail = createTail();
  const print = async () => {
    for (const line of tail.news(await read(host, sessionId, worker)))
      terminal.out(json ? `${JSON.stringify({ worker_id: worker, line })}\n` : `${line}\n`);
  };
  if (!follow) {
    await print();
    if (tail.isEmpty) terminal.err(`${worker} has shown nothing, or nothing of it is kept\n`);
    return;
  }
  // A supervisor that is closing reads no terminal any more; the last look is at what is kept.
  const show = coalesce(() => print().catch(() => undefined));
  const { interrupted: signal } = terminal;
  await show();
  for await (const event of host.events(sessionId, { after: 0, follow: true, signal }))
    if (event.worker_id === worker) void show();
  if (signal.aborted) return;
  await host.settled(sessionId, SETTLE_LIMIT_MS);
  await show();
}

async function read(host: CliHost, sessionId: string, worker: string): Promise<string[]> {
  const call = { name: 'read_worker_output', effect: 'read' } as const;
  const answer = await host.call(sessionId, call, { worker_id: worker, tail_lines: LINES });
  const text = plain(String(answer['output'])).trimEnd();
  return text === '' ? [] : text.split('\n').map((line) => line.trimEnd());
}

/** Of texts that grow at their end and lose lines at their beginning: what each has that the one before had not. */
export function createTail(): {
  news(lines: readonly string[]): readonly string[];
  readonly isEmpty: boolean;
} {
  let before: readonly string[] = [];
  return {
    get isEmpty() {
      return before.length === 0;
    },
    news(lines) {
      const known = Math.max(0, ...before.map((_, start) => alike(before, start, lines)));
      before = lines;
      return lines.slice(known);
    },
  };
}

/** How many lines are those of `before` from `start` on. */
function alike(before: readonly string[], start: number, lines: readonly string[]): number {
  let count = 0;
  while (start + count < before.length && before[start + count] === lines[count]) count += 1;
  return count;
}
