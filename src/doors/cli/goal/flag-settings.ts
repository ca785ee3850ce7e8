import type { Given, Layer } from '../../../config/load.js';
import type { SettingValue } from '../../../config/schema.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { Parsed } from '../parse.js';

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

interface Limits {
  readonly max_workers?: number;
  readonly session_timeout_s?: number;
  readonly run_timeout_s?: number;
  readonly stall_s?: number;
}

const YEAR_S = 31_536_000;

function readLimits(parsed: Parsed): Limits {
  const workers = wholeNumber(parsed, 'max-workers', { least: 1, most: 64, example: '--max-workers 4' });
  const seconds = wholeNumber(parsed, 'session-timeout', {
    least: 1,
    most: YEAR_S,
    example: '--session-timeout 3600 ends the session after an hour',
  });
  const run = wholeNumber(parsed, 'run-timeout', {
    least: 1,
    most: YEAR_S,
    example: '--run-timeout 1800 ends a task that takes longer than half an hour',
  });
  const stall = wholeNumber(parsed, 'stall-after', {
    least: 0,
    most: YEAR_S,
    example: '--stall-after 300 tells of an agent that is silent for five minutes; 0 never does',
  });
  return {
    ...(workers === undefined ? {} : { max_workers: workers }),
    ...(seconds === undefined ? {} : { session_timeout_s: seconds }),
    ...(run === undefined ? {} : { run_timeout_s: run }),
    ...(stall === undefined ? {} : { stall_s: stall }),
  };
}

function wholeNumber(
  parsed: Parsed,
  name: string,
  range: { least: number; most: number; example: string },
): number | undefined {
  const text = parsed.text(name);
  if (text === undefined) return undefined;
  const value = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (value >= range.least && value <= range.most) return value;
  throw new OrchestratorError('USAGE', {
    problem: `--${name} takes a whole number from ${range.least} to ${range.most} (got "${text}")`,
    hint: range.example,
  });
}

/** `--verify` commands; an empty one would pass always. */
function readVerify(parsed: Parsed): readonly string[] {
  const commands = parsed.texts('verify').map((command) => command.trim());
  if (!commands.includes('')) return commands;
  throw new OrchestratorError('USAGE', {
    problem: '--verify has an empty command',
    hint: 'give a command that fails when the result is wrong, such as --verify "npm test"',
  });
}
