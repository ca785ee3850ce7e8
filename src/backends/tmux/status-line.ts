import { OVER_TABLE, PAUSE_KEY } from './keys.js';

/** Width kept for the numbers of the windows; tmux cuts them before it cuts anything else. */
const WINDOWS_WIDTH = 12;
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

/** A window in the status line: its number. All have the name of the session, which would say nothing. */
export function windowFormat(options: { current: boolean }): string {
  return options.current ? '[#I]' : '#I';
}

/** What to know about the place, and which keys do what for the terminal that is drawn. */
export function statusRight(): string {
  const prefix = '#{s/^C-/Ctrl-/:prefix}';
  const narrow = `#{e|<|:#{client_width},${ROOMY}}`;
  const several = '#{e|>|:#{session_windows},1}';
  const leave = `#{?${narrow},, · ${prefix} d leaves}`;
  // Where there is more to see than is shown, how to get there is worth more than why.
  const notice = `#{?#{&&:${several},${narrow}},,#{?@ao_notice,#{@ao_notice} · ,}}`;
  const next = `#{?${several},${prefix} n next · ,}`;
  const running = `${notice}${next}${prefix} ${PAUSE_KEY} pauses${leave}`;
  const over = `#{?#{==:#{client_key_table},${OVER_TABLE}},#{@ao_over},${prefix} d leaves}`;
  return ` #{?@ao_over,${over},${running}} `;
}
