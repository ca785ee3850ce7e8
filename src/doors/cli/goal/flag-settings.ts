import type { Given, Layer } from '../../../config/load.js';
import type { SettingValue } from '../../../config/schema.js';
import type { Parsed } from '../parse.js';
import { readLimits, readVerify } from './settings.js';

const SWITCHES = [
  ['headless', 'headless'],
  ['include_changes', 'include-changes'],
  ['fetch', 'fetch'],
  ['apply', 'apply'],
  ['bypass', 'bypass'],
  ['lead_may_answer', 'lead-may-answer'],
] as const;

const LIMITS = [
  ['max_workers', 'max-workers'],
  ['session_timeout_s', 'session-timeout'],
  ['run_timeout_s', 'run-timeout'],
  ['stall_s', 'stall-after'],
] as const;

/** What the command line says of settings: it beats every other place. Throws USAGE. */
export function flagLayer(parsed: Parsed): Layer {
  const layer = new Map<string, Given>();
  const put = (key: string, value: SettingValue, flag: string) =>
    layer.set(key, { value, origin: { from: 'flag', where: `--${flag}` } });
  const limits = readLimits(parsed);
  const verify = readVerify(parsed);
  const lead = parsed.text('lead');
  if (lead !== undefined) put('lead', lead, 'lead');
  if (parsed.given.includes('agents')) put('agents', [...new Set(parsed.texts('agents'))], 'agents');
  if (verify.length > 0) put('verify', verify, 'verify');
  for (const [name, flag] of LIMITS) {
    const value = limits[name];
    if (value !== undefined) put(`limits.${name}`, value, flag);
  }
  for (const [key, flag] of SWITCHES) {
    const value = parsed.isOn(flag);
    if (value !== undefined) put(key, value, value ? flag : `no-${flag}`);
  }
  if (parsed.isOn('kill-tmux') === true) put('kill_tmux', true, 'kill-tmux');
  else if (parsed.isOn('tmux-cleanup') === false) put('kill_tmux', false, 'no-tmux-cleanup');
  return layer;
}
