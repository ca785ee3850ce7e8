import { existsSync } from 'node:fs';
import { borderFormat } from './labels.js';
import type { WindowSize } from './layout.js';
import { statusLeft, statusRight, windowFormat } from './status-line.js';

/**
 * The server's whole configuration: nothing of the user's or the system's is read. Never `window-size manual` here:
 * as a global option it crashes tmux 3.3a at the next new window.
 */
export function tmuxConfig(options: { size: WindowSize }): string {
  return `${[
    `set -g default-size ${options.size.columns}x${options.size.rows}`,
    `set -g default-terminal "${defaultTerminal()}"`,
    'set -s exit-empty on',
    'set -s escape-time 20',
    'set -g history-limit 10000',
    ...requiredSettings(),
    'set -g status on',
    // Only while somebody looks is anything drawn by the clock: see viewers.ts.
    'set -g status-interval 0',
    'set -g status-left-length 160',
    `set -g status-left "${statusLeft()}"`,
    `set -g window-status-format "${windowFormat({ current: false })}"`,
    `set -g window-status-current-format "${windowFormat({ current: true })}"`,
    'set -g status-right-length 90',
    `set -g status-right "${statusRight()}"`,
    'set -g pane-border-status top',
    `set -g pane-border-format "${borderFormat()}"`,
  ].join('\n')}\n`;
}

/** What our own work rests on; said again after a person's own file was read. */
export function requiredSettings(): readonly string[] {
  return [
    'set -g remain-on-exit on',
    // The words tmux writes into a dead pane would stand between the agent's last lines; often with a wrong status.
    'set -gq remain-on-exit-format ""',
    'set -g base-index 0',
    'set -g pane-base-index 0',
    'set -g renumber-windows off',
    'set -g automatic-rename off',
    'set -g allow-rename off',
    'set -g destroy-unattached off',
    'set -g window-size latest',
    'set -g default-command ""',
    // Else every terminal that attaches writes its own environment over that of the session.
    'set -g update-environment ""',
    'set -s exit-unattached off',
  ];
}

/** tmux's own terminal description is missing on some systems; programs then fail to start at all. */
function defaultTerminal(): string {
  const folders = [
    '/usr/share/terminfo',
    '/lib/terminfo',
    '/etc/terminfo',
    '/usr/lib/terminfo',
    '/opt/homebrew/share/terminfo',
  ];
  const known = folders.some(
    (folder) => existsSync(`${folder}/t/tmux-256color`) || existsSync(`${folder}/74/tmux-256color`),
  );
  return known ? 'tmux-256color' : 'screen-256color';
}
