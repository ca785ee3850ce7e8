import { OrchestratorError } from '../core/errors/error.js';
import {
  AGENT_OPTIONS,
  agentOptionOf,
  agentOptionSchema,
  findSetting,
  settingKeys,
  type Setting,
  type SettingValue,
} from './schema.js';
import { invalid, unknownKeyHint, type TomlFile } from './toml-file.js';

export interface FoundValue {
  readonly key: string;
  readonly path: readonly string[];
  readonly value: SettingValue;
}

export type FileKind = 'user' | 'project';

/** The settings of one file. Throws SETTINGS_INVALID for a key nobody knows, a value of another kind, and what is not a project's to set. */
export function valuesOfFile(file: TomlFile, kind: FileKind): FoundValue[] {
  return leaves(file.value, []).map(({ path, value }) => {
    const key = path.join('.');
    const problem = problemOf(path, value, kind);
    if (problem !== null) throw invalid(file, path, problem);
    return { key, path, value: value as SettingValue };
  });
}

export interface Problem {
  readonly problem: string;
  readonly hint?: string;
}

/** null: it may stand in such a file. */
export function problemOf(path: readonly string[], value: unknown, kind: FileKind): Problem | null {
  const key = path.join('.');
  if (agentOptionOf(path) !== null) return optionProblem(key, value, kind);
  const setting = findSetting(key);
  if (setting === undefined || path.length !== key.split('.').length)
    return {
      problem: `unknown key "${key}"`,
      hint: unknownKeyHint(key, [...settingKeys(), `${AGENT_OPTIONS}.AGENT.OPTION`]),
    };
  if (kind === 'project' && setting.scope === 'user')
    return {
      problem: `"${key}" is not for a project to set: its files never grant anything`,
      hint: `set it for yourself: agentorchestr config set ${key} …${insteadOf(setting)}`,
    };
  return setting.schema.safeParse(value).success
    ? null
    : { problem: `"${key}" takes ${setting.takes} (got ${shown(value)})` };
}

function insteadOf({ key, flag }: Setting): string {
  if (key === 'verify') return ', or list the commands in PROJECT.md, where you are asked for consent';
  return flag === null ? '' : `, or give ${key === 'bypass' ? '--no-bypass' : flag} for one session`;
}

/** A value goes into the command of an agent: in a project's file it must not look like a flag of that agent. */
function optionProblem(key: string, value: unknown, kind: FileKind): Problem | null {
  if (!agentOptionSchema.safeParse(value).success)
    return { problem: `"${key}" takes a text (got ${shown(value)})` };
  return kind === 'project' && String(value).startsWith('-')
    ? {
        problem: `"${key}" begins with a dash: a project's file gives no flags to agents`,
        hint: `set it for yourself: agentorchestr config set ${key} …`,
      }
    : null;
}

export function shown(value: unknown): string {
  return (
    JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? Number(part) : part)) ?? 'nothing'
  );
}

/** What somebody typed for a setting, or a variable holds. Throws SETTINGS_INVALID; `where` names the place in it. */
export function valueOfText(setting: Setting, text: string, where: string): SettingValue {
  const value = read(setting, text);
  const parsed = setting.schema.safeParse(value);
  if (parsed.success) return parsed.data;
  throw new OrchestratorError('SETTINGS_INVALID', {
    where,
    problem: `"${setting.key}" takes ${setting.takes} (got ${shown(text)})`,
  });
}

const SWITCH: Readonly<Record<string, boolean>> = { true: true, false: false, '1': true, '0': false };

function read(setting: Setting, text: string): unknown {
  const { separator } = setting;
  if (separator !== undefined)
    return text
      .split(separator)
      .map((part) => part.trim())
      .filter((part) => part !== '');
  if (setting.takes.startsWith('a whole number')) return /^\d{1,9}$/.test(text.trim()) ? Number(text) : text;
  if (typeof setting.fallback === 'boolean') return SWITCH[text.trim()] ?? text;
  return text.trim();
}

function leaves(value: unknown, path: readonly string[]): { path: readonly string[]; value: unknown }[] {
  const isTable =
    typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
  if (!isTable) return [{ path, value }];
  const isSetting = path.length > 0 && findSetting(path.join('.')) !== undefined;
  if (isSetting || agentOptionOf(path) !== null) return [{ path, value }];
  const entries = Object.entries(value);
  // An empty table of a name that nobody knows is a mistake too.
  if (entries.length === 0 && path.length > 0 && !isSection(path)) return [{ path, value }];
  return entries.flatMap(([key, part]) => leaves(part, [...path, key]));
}

function isSection(path: readonly string[]): boolean {
  const prefix = `${path.join('.')}.`;
  return path[0] === AGENT_OPTIONS ? path.length <= 2 : settingKeys().some((key) => key.startsWith(prefix));
}
