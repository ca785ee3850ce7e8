import type { Terminal } from './host.js';

/** Whether the person says yes; everything else is a no, the end of input too. */
export async function saysYes(terminal: Terminal, question: string): Promise<boolean> {
  const answer = (await terminal.ask(`${question} [y/N] `)) ?? '';
  return /^y(es)?$/i.test(answer.trim());
}
