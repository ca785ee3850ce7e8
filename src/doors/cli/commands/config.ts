import { resolve } from 'node:path';
import { explain, originWords, valueWords, type Explained } from '../../../config/explain.js';
import { loadLayers, resolveAll, resolveSetting, type Layer } from '../../../config/load.js';
import {
  AGENT_OPTIONS,
  agentOptionOf,
  findSetting,
  settingKeys,
  type Setting,
  type SettingValue,
} from '../../../config/schema.js';
import { setSetting, unsetSetting } from '../../../config/set.js';
import { unknownKeyHint } from '../../../config/toml-file.js';
import { valueOfText } from '../../../config/values.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import { nearest } from '../../../core/nearest.js';
import { resolvePaths } from '../../../platform/paths.js';
import { readAgentOptions } from '../goal/agent-options.js';
import { flagLayer } from '../goal/flag-settings.js';
import type { CliHost } from '../host.js';
import { createPaint } from '../output/paint.js';
import { plain } from '../output/plain.js';
import { table } from '../output/table.js';
import type { Parsed } from '../parse.js';

const VERBS = { list: 0, get: 1, set: 2, unset: 1, explain: 1 } as const;
type Verb = keyof typeof VERBS;

/** `config list|get|set|unset|explain`. Throws USAGE, SETTINGS_INVALID. */
export async function config(host: CliHost, parsed: Parsed): Promise<number> {
  const [word = 'list', key, text, ...extra] = parsed.positionals;
  const verb = verbOf(word);
  const given = [key, text, ...extra].filter((one) => one !== undefined);
  const [surplus] = given.slice(VERBS[verb]);
  if (surplus !== undefined)
    throw usage(`unexpected argument "${surplus}"`, 'a list is one text: config set agents one,two');
  if (verb === 'set') return set(host, parsed, key, text);
  if (verb === 'unset') return unset(host, parsed, key);
  const layers = await layersOf(host, parsed);
  if (verb === 'get') return get(host, layers, keyOf(key, 'get'), parsed);
  const keys = key === undefined ? resolveAll(layers).map((one) => one.key) : [keyOf(key, 'explain')];
  const explained = keys.map((one) => explain(resolveSetting(layers, one)));
  if (parsed.isOn('json') === true) print(host, { settings: explained });
  else host.terminal.out(verb === 'list' ? listed(host, explained) : inFull(host, explained));
  return 0;
}

function verbOf(word: string): Verb {
  if (word in VERBS) return word as Verb;
  const verbs = Object.keys(VERBS);
  const meant = nearest(word, verbs);
  throw usage(
    `config has no "${word}"`,
    meant === null ? `it has: ${verbs.join(', ')}` : `did you mean: agentorchestr config ${meant}`,
  );
}

async function layersOf(host: CliHost, parsed: Parsed): Promise<Layer[]> {
  const { config: folder } = resolvePaths(host.env);
  const layers = await loadLayers({ config: folder, project: resolve('.'), env: host.env });
  // An option of an agent is known by the agents alone.
  await readAgentOptions([], host, resolveAll(layers));
  return [...layers, flagLayer(parsed)];
}

function get(host: CliHost, layers: readonly Layer[], key: string, parsed: Parsed): number {
  const { value } = resolveSetting(layers, key);
  if (parsed.isOn('json') === true) print(host, { key, value });
  else if (Array.isArray(value)) host.terminal.out(value.map((one: string) => `${plain(one)}\n`).join(''));
  else if (value !== null) host.terminal.out(`${plain(String(value))}\n`);
  return 0;
}

async function set(
  host: CliHost,
  parsed: Parsed,
  key: string | undefined,
  text: string | undefined,
): Promise<number> {
  const name = keyOf(key, 'set');
  if (text === undefined)
    throw usage(`config set ${name} needs a value`, `it takes ${findSetting(name)?.takes ?? 'a text'}`);
  const setting = findSetting(name);
  const value = setting === undefined ? text : valueOfText(setting, text, 'config set');
  const { config: folder } = resolvePaths(host.env);
  const kind = parsed.isOn('project') === true ? 'project' : 'user';
  checkAgents(host, setting, value);
  await checkOption(host, name, value);
  const file = await setSetting({ config: folder, project: resolve('.') }, kind, {
    path: name.split('.'),
    value,
  });
  if (parsed.isOn('json') === true) print(host, { key: name, value, file });
  else host.terminal.out(`${name} = ${valueWords(value)}   (${file})\n`);
  return 0;
}

async function unset(host: CliHost, parsed: Parsed, key: string | undefined): Promise<number> {
  const name = key ?? keyOf(key, 'unset');
  const { config: folder } = resolvePaths(host.env);
  const kind = parsed.isOn('project') === true ? 'project' : 'user';
  const places = { config: folder, project: resolve('.') };
  const { file, wasSet } = await unsetSetting(places, kind, name.split('.'));
  if (!wasSet) keyOf(key, 'unset');
  if (parsed.isOn('json') === true) print(host, { key: name, was_set: wasSet, file });
  else host.terminal.out(`${plain(name)} ${wasSet ? 'is not set any more' : 'was not set'}   (${file})\n`);
  if (parsed.isOn('json') === true || findSetting(name) === undefined) return 0;
  const now = explain(resolveSetting(await layersOf(host, parsed), name));
  host.terminal.out(`now ${plain(valueWords(now.value))}   ${plain(originWords(now, host.env['HOME']))}\n`);
  return 0;
}

/** Throws USAGE: every later command would fail. */
function checkAgents(host: CliHost, setting: Setting | undefined, value: SettingValue): void {
  if (setting?.namesAgents !== true) return;
  const valid = host.knownAgents().map(({ name }) => name);
  const agent = [value].flat().find((name) => !valid.includes(String(name)));
  if (agent === undefined) return;
  const meant = nearest(String(agent), valid);
  throw usage(
    `no agent "${agent}"`,
    meant === null ? `agents are: ${valid.join(', ')}` : `did you mean ${meant}?`,
  );
}

/** An option that no agent has would make every later command fail. */
async function checkOption(host: CliHost, key: string, value: unknown): Promise<void> {
  const option = agentOptionOf(key.split('.'));
  if (option === null) return;
  const origin = { from: 'flag', where: 'config set' } as const;
  await readAgentOptions([], host, [{ key, value: String(value), origin, overrode: [], refused: [] }]);
}

/** Throws USAGE with the nearest key. */
function keyOf(key: string | undefined, verb: Verb): string {
  if (key === undefined) throw usage(`config ${verb} needs a key`, `keys are: ${settingKeys().join(', ')}`);
  if (findSetting(key) !== undefined || agentOptionOf(key.split('.')) !== null) return key;
  throw usage(
    `unknown key "${key}"`,
    unknownKeyHint(key, [...settingKeys(), `${AGENT_OPTIONS}.AGENT.OPTION`]),
  );
}

function usage(problem: string, hint: string): OrchestratorError {
  return new OrchestratorError('USAGE', { problem, hint });
}

function print(host: CliHost, value: unknown): void {
  host.terminal.out(`${JSON.stringify(value, null, 2)}\n`);
}

function listed(host: CliHost, settings: readonly Explained[]): string {
  const paint = createPaint(host.terminal, host.env, 'stdout');
  const rows = settings.map((one) => [
    paint.strong(one.key),
    plain(valueWords(one.value)),
    paint.faint(plain(originWords(one, host.env['HOME']))),
  ]);
  return `${table(rows)}\n`;
}

function inFull(host: CliHost, settings: readonly Explained[]): string {
  const paint = createPaint(host.terminal, host.env, 'stdout');
  const home = host.env['HOME'];
  const blocks = settings.map((one) => {
    const rows = [
      ['from', originWords(one, home)],
      ...one.overrode.map((other) => [
        'overrode',
        `${valueWords(other.value)}   (${originWords(other, home)})`,
      ]),
      ...one.refused.map(({ value, where }) => [
        'not used',
        `${valueWords(value)}   (${originWords({ from: 'project', where }, home)}: a project may only lower it)`,
      ]),
      ['meaning', one.summary],
      ['takes', one.takes],
      ['set by', waysToSet(one)],
    ].map(([name = '', text = '']) => [paint.faint(name), plain(text)]);
    return `${paint.strong(one.key)} = ${plain(valueWords(one.value))}\n${table(rows, '  ')}`;
  });
  return `${blocks.join('\n\n')}\n`;
}

function waysToSet({ flag, variable, project_may_set: project }: Explained): string {
  const files =
    project === 'lower'
      ? "your file, the project's file (only lower)"
      : project
        ? "your file, the project's file"
        : 'your file (never a project)';
  return [files, variable, flag].filter((way) => way !== null).join(', ');
}
