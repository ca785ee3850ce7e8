import { MAX_PANES, windowCapacity, windowSizeFor, type WindowSize } from './layout.js';
import { showNotice } from './viewers.js';
import type { ControlClient } from './types.js';

/** What the windows are made for: a terminal (null: none is known), and the size they have for it. */
export interface Fit {
  readonly terminal: WindowSize | null;
  readonly size: WindowSize;
}

export function fitFor(terminal: WindowSize | null): Fit {
  return { terminal, size: windowSizeFor(terminal) };
}

/** What the server was last made to fit by command, by whichever supervisor; null: never. */
export async function keptFit(client: ControlClient, target: string): Promise<Fit | null> {
  const [kept = ''] = await client.command('display-message', '-p', '-t', target, '#{@ao_terminal}');
  const [, columns, rows] = /^(\d+)x(\d+)$/.exec(kept) ?? [];
  return columns === undefined ? null : fitFor({ columns: Number(columns), rows: Number(rows) });
}

export async function keepFit(client: ControlClient, target: string, fit: Fit): Promise<void> {
  const { size, terminal } = fit;
  await Promise.all([
    client.command('set-option', '-g', 'default-size', textOf(size)),
    client.command('set-option', '-t', target, '@ao_terminal', terminal === null ? '' : textOf(terminal)),
  ]);
}

/** Says in the status line when a small terminal takes fewer panes. */
export async function showFit(client: ControlClient, target: string, fit: Fit): Promise<void> {
  const { terminal, size } = fit;
  const perWindow = windowCapacity(size, true);
  const notice =
    terminal === null || perWindow === MAX_PANES
      ? ''
      : `${perWindow} ${perWindow === 1 ? 'pane' : 'panes'} per window at ${textOf(terminal)}`;
  await showNotice(client, target, notice);
}

function textOf({ columns, rows }: WindowSize): string {
  return `${columns}x${rows}`;
}
