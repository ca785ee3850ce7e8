import { appendFileSync } from 'node:fs';
import { basename } from 'node:path';
import { expect } from 'vitest';

/** A figure as `npm run bench` reports it. `ratio` is of ours to the rival's, or the other way where more is better. */
export interface Row {
  /** Its number among the goals, or what it belongs to. */
  readonly goal: string;
  readonly what: string;
  readonly unit: string;
  readonly ours: number;
  readonly rival: number | null;
  readonly ratio: number | null;
  readonly target: string | null;
  readonly met: boolean | null;
}

type Target = { readonly atMost: number } | { readonly atLeast: number };

interface Rival {
  readonly what: string;
  /** One round; resolves with its figure. */
  readonly run: () => Promise<number> | number;
  /** Of the ratio. `atLeast`: how many times less than the rival's ours has to be. */
  readonly target?: Target;
}

interface Comparisons {
  readonly goal: string;
  readonly what: string;
  readonly unit: string;
  /** One round; resolves with its figure. */
  readonly ours: () => Promise<number> | number;
  readonly rivals: readonly Rival[];
  readonly rounds?: number;
}

type Comparison = Omit<Comparisons, 'rivals'> & {
  readonly rival: Rival['run'];
  readonly target?: Target;
};

/** As many as asked for; fewer where `BENCH_ROUNDS` says so, to see that a bench works. */
export function roundsOf(wanted = 15): number {
  return Math.min(wanted, Number(process.env['BENCH_ROUNDS'] ?? wanted));
}

/** One rival; what it is stands in `what`. */
export async function compare({ rival, target, ...rest }: Comparison): Promise<Row> {
  const rivals = [{ what: '', run: rival, ...(target === undefined ? {} : { target }) }];
  const [row] = await compareAll({ ...rest, rivals });
  return row as Row;
}

/**
 * Ours and the rivals' in turns, so that whatever else the machine does meets all. The ratio is the middle of the
 * rounds' ratios; a first round of each is not counted.
 */
export async function compareAll({ rivals, rounds, ...ours }: Comparisons): Promise<readonly Row[]> {
  const figures: number[] = [];
  const others: number[][] = rivals.map(() => []);
  for (let round = 0; round <= roundsOf(rounds); round++) {
    const mine = await ours.ours();
    if (round > 0) figures.push(mine);
    for (const [index, { run }] of rivals.entries()) {
      const other = await run();
      if (round > 0) others[index]?.push(other);
    }
  }
  return rivals.map((rival, index) => rowOf(ours, figures, rival, others[index] ?? []));
}

function rowOf(
  { goal, what, unit }: Pick<Row, 'goal' | 'what' | 'unit'>,
  ours: readonly number[],
  rival: Rival,
  others: readonly number[],
): Row {
  const { target } = rival;
  const isMore = target !== undefined && 'atLeast' in target;
  const ratios = ours.map((mine, round) => {
    const other = others[round] ?? NaN;
    return isMore ? other / mine : mine / other;
  });
  const ratio = median(ratios);
  return report({
    ...{ goal, unit, what: rival.what === '' ? what : `${what}; rival: ${rival.what}` },
    ...{ ours: median(ours), rival: median(others), ratio },
    ...judged(ratio, target),
  });
}

/** A figure that has no rival; a target is of the figure itself. */
export function figure(
  given: Pick<Row, 'goal' | 'what' | 'unit' | 'ours'> & { readonly rival?: number; readonly atMost?: number },
): Row {
  const { atMost, rival = null, ...rest } = given;
  const target = atMost === undefined ? null : `<= ${atMost} ${rest.unit}`;
  const met = atMost === undefined ? null : rest.ours <= atMost;
  return report({ ...rest, rival, ratio: null, target, met });
}

function judged(ratio: number, target: Target | undefined): Pick<Row, 'target' | 'met'> {
  if (target === undefined) return { target: null, met: null };
  return 'atMost' in target
    ? { target: `<= ${target.atMost}x`, met: ratio <= target.atMost }
    : { target: `>= ${target.atLeast}x less`, met: ratio >= target.atLeast };
}

/** To the file that scripts/bench.mjs reads; without it, as a line. */
function report(row: Row): Row {
  const file = process.env['BENCH_ROWS'];
  const testFile = basename(expect.getState().testPath ?? '', '.bench.ts');
  const line = `${JSON.stringify({ file: testFile, ...row })}\n`;
  if (file === undefined) process.stdout.write(line);
  else appendFileSync(file, line);
  return row;
}

export const median = (values: readonly number[]): number => quantile(values, 0.5);

/** NaN of nothing. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? NaN;
}
