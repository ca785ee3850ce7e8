import { styleText } from 'node:util';
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
  // The stream is looked at here: newer Nodes would look at another one.
  const style = (format: 'bold' | 'dim' | 'green' | 'red' | 'yellow') => (text: string) =>
    isTty && !refused && text !== '' ? styleText(format, text, { validateStream: false }) : text;
  return {
    strong: style('bold'),
    faint: style('dim'),
    good: style('green'),
    bad: style('red'),
    warn: style('yellow'),
  };
}

/** The colour of a state's word; unknown words stay as they are. */
export function paintState(paint: Paint, state: string): string {
  if (['done', 'passed', 'succeeded'].includes(state)) return paint.good(state);
  if (['failed', 'crashed', 'orphaned', 'lost', 'timeout', 'killed'].includes(state)) return paint.bad(state);
  if (['waiting', 'blocked', 'paused', 'exited'].includes(state)) return paint.warn(state);
  return state;
}
