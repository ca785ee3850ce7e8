import { platform } from 'node:os';
import { runProcess } from '../../platform/process.js';

/**
 * The most bytes of one line that surely reach the program on `tty`: a terminal in line mode drops the rest silently.
 * Infinity for a program that reads raw input. What cannot be asked counts as line mode.
 */
export async function lineLimitBytes(tty: string): Promise<number> {
  const mac = platform() === 'darwin';
  const limit = mac ? 1_023 : 4_095;
  if (tty === '') return limit;
  const result = await runProcess('/bin/stty', [mac ? '-f' : '-F', tty, '-a'], { env: {}, timeoutMs: 2_000 });
  return result.exitCode === 0 && /(^|\s)-icanon\b/.test(result.stdout) ? Infinity : limit;
}

/** Lines up to this are safe on every system without asking. */
export const SURE_LINE_BYTES = 1_000;
