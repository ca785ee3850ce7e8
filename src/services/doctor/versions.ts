/** The first `1.2` or `1.2.3` in a text, as numbers; null when there is none. */
export function versionIn(text: string): readonly number[] | null {
  const found = /\d+(\.\d+)+/.exec(text)?.[0];
  return found === undefined ? null : found.split('.').map(Number);
}

/** Negative: `a` is older. Missing parts count as 0. */
export function compareVersions(a: readonly number[], b: readonly number[]): number {
  for (let part = 0; part < Math.max(a.length, b.length); part++) {
    const difference = (a[part] ?? 0) - (b[part] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
