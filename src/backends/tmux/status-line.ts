import { OVER_TABLE, PAUSE_KEY } from './keys.js';

/** Width kept for the names of the windows; tmux cuts them before it cuts anything else. */
const WINDOWS_WIDTH = 18;
/** What waits for a person stands first, and stays readable. */
const LEAST_WIDTH = 22;
/** A narrower terminal has room for one key. */
const ROOMY = 100;

/** What the session does; cut so that the keys stay readable. */
export function statusLeft(): string {
  const taken = '#{w:#{E:status-right}}';
  const width = `#{e|-|:#{client_width},#{e|+|:${taken},#{?@ao_over,2,${WINDOWS_WIDTH}}}}`;
  return ` #{=/#{?#{e|<|:${width},${LEAST_WIDTH}},${LEAST_WIDTH},${width}}/…:@ao_status} `;
}

/** What to know about the place, and which keys do what for the terminal that is drawn. */
export function statusRight(): string {
  const prefix = '#{s/^C-/Ctrl-/:prefix}';
  const leave = `#{?#{e|<|:#{client_width},${ROOMY}},, · ${prefix} d leaves}`;
  const running = `#{?@ao_notice,#{@ao_notice} · ,}${prefix} ${PAUSE_KEY} pauses${leave}`;
  const over = `#{?#{==:#{client_key_table},${OVER_TABLE}},#{@ao_over},${prefix} d leaves}`;
  return ` #{?@ao_over,${over},${running}} `;
}
