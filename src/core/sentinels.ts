/** A line in which an agent says how its run ended: `WORKER_DONE[nonce]: summary`. */
export interface Sentinel {
  readonly word: 'done' | 'blocked' | 'failed';
  readonly nonce: string | null;
  readonly summary: string;
  /** The line as it stood, trimmed; lets the caller rule out lines that occur in what was sent. */
  readonly line: string;
}

/** What programs draw before a line of text: bullets, prompts, borders. A quote or a back-tick is none: that is prose. */
const DECORATION = /^[\s│┃║|▌▍▎▏▐█•●○◦◆◇■□▪▸▶⏺⎿✦✻✶✳✽·∙*>❯›»─━═┌┐└┘├┤╭╮╰╯╌-]+/u;
const BORDER = /[\s│┃║|▐█]+$/u;
const SENTINEL = /^WORKER_(DONE|BLOCKED|FAILED)(?:\[([^\]\s]{1,64})\])?:\s*(.*)$/u;

/** The line without the frame that a terminal program draws around text. */
export function undecorate(line: string): string {
  return line.replace(DECORATION, '').replace(BORDER, '');
}

/** Full-line sentinels, in the order of the lines. */
export function findSentinels(lines: readonly string[]): readonly Sentinel[] {
  const found: Sentinel[] = [];
  for (const raw of lines) {
    if (!raw.includes('WORKER_')) continue;
    const line = undecorate(raw);
    const match = SENTINEL.exec(line);
    if (match === null) continue;
    const word = match[1]?.toLowerCase() as Sentinel['word'];
    found.push({ word, nonce: match[2] ?? null, summary: (match[3] ?? '').trim(), line: line.trim() });
  }
  return found;
}
