import { join } from 'node:path';
import { readTextFile } from '../platform/files.js';
import { findSetting, SETTINGS, type SettingValue } from './schema.js';
import { parseToml, placeOf } from './toml-file.js';
import { valueOfText, valuesOfFile, type FileKind } from './values.js';

export type OriginKind = 'default' | 'user' | 'project' | 'environment' | 'flag';

export interface Origin {
  readonly from: OriginKind;
  /** `file:line`, the name of a variable, a flag; '' for what is built in. */
  readonly where: string;
}

export interface Given {
  readonly value: SettingValue;
  readonly origin: Origin;
}

export interface Resolved {
  readonly key: string;
  /** null: nothing is set. */
  readonly value: SettingValue | null;
  readonly origin: Origin;
  /** What would hold without it, the nearest first. */
  readonly overrode: readonly Given[];
  /** Of a project that would raise a limit: it does not count. */
  readonly refused: readonly Given[];
}

/** One place that gives values, by key. */
export type Layer = ReadonlyMap<string, Given>;

export interface SettingPlaces {
  /** Folder of the user's own files. */
  readonly config: string;
  readonly project: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function userConfigFile(config: string): string {
  return join(config, 'config.toml');
}

export function projectConfigFile(project: string): string {
  return join(project, '.agentorchestr', 'config.toml');
}

/** User's file, project's file, environment: the later wins. Throws SETTINGS_INVALID, FILE_NOT_READABLE. */
export async function loadLayers({ config, project, env }: SettingPlaces): Promise<Layer[]> {
  const [user, own] = [userConfigFile(config), projectConfigFile(project)];
  // The home folder may be looked at as a project, and an older install keeps its settings at that very place.
  const isOne = user === own;
  return [
    await fileLayer(user, 'user'),
    isOne ? new Map() : await fileLayer(own, 'project'),
    environmentLayer(env),
  ];
}

async function fileLayer(path: string, kind: FileKind): Promise<Layer> {
  const text = await readTextFile(path);
  if (text === null) return new Map();
  const file = parseToml(path, text);
  return new Map(
    valuesOfFile(file, kind).map(({ key, path: keys, value }) => [
      key,
      { value, origin: { from: kind, where: placeOf(file, keys) } },
    ]),
  );
}

function environmentLayer(env: SettingPlaces['env']): Layer {
  const layer = new Map<string, Given>();
  for (const setting of SETTINGS) {
    const text = env[setting.variable] ?? '';
    if (text.trim() === '') continue;
    const value = valueOfText(setting, text, setting.variable);
    layer.set(setting.key, { value, origin: { from: 'environment', where: setting.variable } });
  }
  return layer;
}

const BUILT_IN: Origin = { from: 'default', where: '' };

/** What holds for a key, the last layer first. */
export function resolveSetting(layers: readonly Layer[], key: string): Resolved {
  const setting = findSetting(key);
  const fallback = setting?.fallback ?? null;
  let all: readonly Given[] = fallback === null ? [] : [{ value: fallback, origin: BUILT_IN }];
  const refused: Given[] = [];
  for (const given of layers.flatMap((layer) => layer.get(key) ?? [])) {
    if (setting?.scope === 'lower' && raises(given, all[0])) refused.push(given);
    else all = [given, ...all];
  }
  const [first, ...overrode] = all;
  return { key, value: first?.value ?? null, origin: first?.origin ?? BUILT_IN, overrode, refused };
}

/** Nothing is set: there is no limit, and every one lowers it. */
function raises({ value, origin }: Given, before: Given | undefined): boolean {
  return origin.from === 'project' && before !== undefined && Number(value) > Number(before.value);
}

/** Every key that is known, and every agent's option that is set. */
export function resolveAll(layers: readonly Layer[]): Resolved[] {
  const keys = new Set([...SETTINGS.map(({ key }) => key), ...layers.flatMap((layer) => [...layer.keys()])]);
  return [...keys].map((key) => resolveSetting(layers, key));
}
