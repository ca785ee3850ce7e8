import type { LabelMore } from '../contract.js';
import type { ControlClient } from './types.js';

export interface PaneLabel extends LabelMore {
  readonly text: string;
}

export async function setLabel(client: ControlClient, paneId: string, label: PaneLabel): Promise<void> {
  const set = (name: string, value: string) => client.command('set-option', '-p', '-t', paneId, name, value);
  await Promise.all([
    set('@ao_label', statusText(label.text)),
    set('@ao_since', label.since === undefined ? '' : String(Math.floor(label.since / 1_000))),
    set('@ao_note', statusText(label.note ?? '')),
  ]);
}

/** Text for tmux's own lines: `#[…]` in it would be a style, and a control character would break the line. */
export function statusText(text: string): string {
  // eslint-disable-next-line no-control-regex -- control bytes are what this is about
  return text.replaceAll(/[\u0000-\u001f\u007f]+/g, ' ').replaceAll('#', '##');
}

/**
 * tmux computes the time that has passed whenever it draws the border, so no clock of ours ticks for it: `%s` is the
 * time of drawing, the rest is whole-number arithmetic.
 */
export function borderFormat(): string {
  const minutes = '#{e|/|:#{e|-|:%s,#{@ao_since}},60}';
  const hours = `#{e|/|:${minutes},60}h#{e|m|:${minutes},60}m`;
  const passed = `#{?#{e|<|:${minutes},1},<1m,#{?#{e|<|:${minutes},60},${minutes}m,${hours}}}`;
  const label = `#{@ao_label}#{?@ao_since, · ${passed},}#{?@ao_note, · #{@ao_note},}`;
  return ` #{?@ao_label,${label},agentorchestr} `;
}
