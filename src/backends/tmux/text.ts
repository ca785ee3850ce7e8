import { delay, type Clock } from '../../core/clock.js';
import type { ControlClient } from './types.js';

/** A pane whose program has ended, or that was made smaller and larger again, may hold this many blank lines below its text. */
const BLANK_LINES = 300;

/** Lines of a pane's scrollback and screen, newest last: wrapped lines joined, no styles, nothing blank at the end. */
export async function capturePane(
  client: ControlClient,
  paneId: string,
  lines: number | 'all',
): Promise<readonly string[]> {
  const start = lines === 'all' ? '-' : String(-lines - BLANK_LINES);
  const captured = await client.command('capture-pane', '-p', '-J', '-S', start, '-t', paneId);
  return lastLines(captured, lines === 'all' ? Infinity : lines);
}

export function lastLines(lines: readonly string[], count: number): readonly string[] {
  const trimmed = lines.map((line) => line.trimEnd());
  const end = trimmed.findLastIndex((line) => line !== '') + 1;
  return trimmed.slice(Math.max(0, end - count), end);
}

/** How long the last output of an ended agent may take from its terminal into tmux. */
const LAST_OUTPUT_MS = 300;

/** The news of an agent's end is faster than its last bytes: waits until two looks at its pane show the same. */
export async function awaitLastOutput(client: ControlClient, paneId: string, clock: Clock): Promise<void> {
  const deadline = clock.now() + LAST_OUTPUT_MS;
  let before: string | undefined;
  for (let pauseMs = 1; clock.now() < deadline; pauseMs *= 2) {
    const [now] = await client.command(
      'display-message',
      '-p',
      '-t',
      paneId,
      '#{history_size} #{history_bytes} #{cursor_x} #{cursor_y}',
    );
    if (now === before) return;
    before = now;
    await delay(clock, pauseMs);
  }
}
