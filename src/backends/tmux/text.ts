import type { ControlClient } from './types.js';

/** Lines of a pane's scrollback and screen, newest last: wrapped lines joined, no styles, nothing blank at the end. */
export async function capturePane(client: ControlClient, paneId: string, lines: number | 'all'): Promise<readonly string[]> {
  const start = lines === 'all' ? '-' : String(-lines);
  const captured = await client.command('capture-pane', '-p', '-J', '-S', start, '-t', paneId);
  return lastLines(captured, lines === 'all' ? Infinity : lines);
}

export function lastLines(lines: readonly string[], count: number): readonly string[] {
  const trimmed = lines.map((line) => line.trimEnd());
  const end = trimmed.findLastIndex((line) => line !== '') + 1;
  return trimmed.slice(Math.max(0, end - count), end);
}
