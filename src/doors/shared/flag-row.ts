import { offerOfSign, type Offer, type OfferedFlag } from './completion/offers.js';

/** A flag as node's own parser takes it, and what the help says of it. */
export interface FlagRow {
  readonly type: 'string' | 'boolean';
  readonly multiple?: boolean;
  readonly short?: string;
  /** What stands for the value in the help. */
  readonly value?: string;
  readonly summary: string;
  /** For completion; absent: what `value` says. */
  readonly offers?: Offer;
}

export type FlagRows = Readonly<Record<string, FlagRow>>;

/** `-f, --follow`, `--limit N` */
export function flagName(name: string, { short, value }: Pick<FlagRow, 'short' | 'value'>): string {
  return `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` ${value}`}`;
}

/** For completion. `known`: what may stand behind a flag by its name alone. */
export function offeredFlags(
  rows: FlagRows,
  known: (name: string) => Offer | null = () => null,
): OfferedFlag[] {
  return Object.entries(rows).map(([name, { type, short, value = '', summary, offers }]) => ({
    names: [`--${name}`, ...(short === undefined ? [] : [`-${short}`])],
    summary,
    value: type === 'boolean' ? null : (offers ?? known(name) ?? offerOfSign(value)),
  }));
}
