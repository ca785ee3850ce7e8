import { findSetting, type SettingValue } from './schema.js';
import type { Origin, Resolved } from './load.js';
import { shown } from './values.js';

/** A setting with all that can be said of where its value comes from, as it is printed and given as JSON. */
export interface Explained {
  readonly key: string;
  readonly value: SettingValue | null;
  readonly from: Origin['from'];
  readonly where: string | null;
  readonly overrode: readonly {
    readonly value: SettingValue;
    readonly from: Origin['from'];
    readonly where: string | null;
  }[];
  /** What a project's file says and does not count, since it would raise a limit. */
  readonly refused: readonly { readonly value: SettingValue; readonly where: string | null }[];
  readonly summary: string;
  readonly takes: string;
  readonly variable: string | null;
  readonly flag: string | null;
  readonly project_may_set: boolean | 'lower';
}

export function explain({ key, value, origin, overrode, refused }: Resolved): Explained {
  const setting = findSetting(key);
  return {
    ...{ key, value, ...place(origin) },
    overrode: overrode.map((given) => ({ value: given.value, ...place(given.origin) })),
    refused: refused.map((given) => ({ value: given.value, where: place(given.origin).where })),
    summary: setting?.summary ?? 'an option of one agent',
    takes: setting?.takes ?? 'a text',
    variable: setting?.variable ?? null,
    flag: setting === undefined ? '--agent-option' : setting.flag,
    project_may_set: setting?.scope === 'lower' ? 'lower' : setting?.scope !== 'user',
  };
}

function place({ from, where }: Origin): { from: Origin['from']; where: string | null } {
  return { from, where: where === '' ? null : where };
}

/** "~/.config/…/config.toml:3", "AGENTORCHESTR_LEAD", "--lead", "built in". */
export function originWords(
  origin: { from: Origin['from']; where: string | null },
  home: string | undefined,
): string {
  const { from, where } = origin;
  if (from === 'default' || where === null) return 'built in';
  return home !== undefined && where.startsWith(`${home}/`) ? `~${where.slice(home.length)}` : where;
}

/** As it would stand in a file. */
export function valueWords(value: SettingValue | null): string {
  return value === null ? '(not set)' : shown(value).replaceAll('","', '", "');
}
