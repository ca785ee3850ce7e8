import type { Terminal } from '../host.js';

export interface Paint {
  strong(text: string): string;
  faint(text: string): string;
  good(text: string): string;
  bad(text: string): string;
  warn(text: string): string;
}

/** Colours only for a terminal whose owner did not say NO_COLOR (any value that is not empty). */
export function createPaint(
  terminal: Pick<Terminal, 'stdoutIsTty' | 'stderrIsTty'>,
  env: Readonly<Record<string, string | undefined>>,
  stream: 'stdout' | 'stderr',
): Paint {
  const isTty = stream === 'stdout' ? terminal.stdoutIsTty : terminal.stderrIsTty;
  const refused = (env['NO_COLOR'] ?? '') !== '' || env['TERM'] === 'dumb';
  const style = (begin: number, end: number) => (text: string) =>
    isTty && !refused && text !== '' ? `\x1b[${begin}m${text}\x1b[${end}m` : text;
  return {
    strong: style(1, 22),
    faint: style(2, 22),
    good: style(32, 39),
    bad: style(31, 39),
    warn: style(33, 39),
  };
}

/** The colour of a state's word; unknown words stay as they are. */
export function paintState(paint: Paint, state: string): string {
  if (['done', 'passed', 'succeeded'].includes(state)) return paint.good(state);
  if (['failed', 'crashed', 'orphaned', 'lost', 'timeout', 'killed'].includes(state)) return paint.bad(state);
  if (['waiting', 'blocked', 'paused', 'exited'].includes(state)) return paint.warn(state);
  return state;
}
