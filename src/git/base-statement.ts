import type { ProjectFacts } from './contract.js';
import { shortCommit } from './refs.js';

export interface StatementFacts {
  /** ms since the epoch. */
  readonly now: number;
  readonly included: boolean;
  /** Repositories inside the checkout, which no snapshot can hold. */
  readonly embedded: readonly string[];
  readonly fetchProblem: string | null;
}

/** "base main@abc1234; 12 behind origin/main as last fetched 3 days ago; 3 uncommitted files are not included" */
export function baseStatement(facts: ProjectFacts, said: StatementFacts): string {
  const commit = shortCommit(facts.head ?? '');
  const parts = [facts.branch === null ? `base ${commit} (detached HEAD)` : `base ${facts.branch}@${commit}`];
  if (facts.upstream !== null) parts.push(upstreamPart(facts.upstream, said.now));
  if (said.fetchProblem !== null) parts.push(`the fetch failed (${said.fetchProblem})`);
  if (facts.uncommittedFiles.length > 0)
    parts.push(`${filesPart(facts.uncommittedFiles.length)} ${said.included ? 'included' : 'not included'}`);
  if (said.embedded.length > 0) parts.push(embeddedPart(said.embedded));
  return parts.join('; ');
}

export function embeddedPart(embedded: readonly string[]): string {
  const [repositories, are] = embedded.length === 1 ? ['git repository', 'is'] : ['git repositories', 'are'];
  return `${embedded.length} ${repositories} inside ${are} not included: ${embedded.join(', ')}`;
}

function filesPart(count: number): string {
  return count === 1 ? '1 uncommitted file is' : `${count} uncommitted files are`;
}

function upstreamPart(upstream: NonNullable<ProjectFacts['upstream']>, now: number): string {
  const { ahead, behind, name } = upstream;
  const distance =
    ahead > 0 && behind > 0
      ? `${ahead} ahead of and ${behind} behind`
      : ahead > 0
        ? `${ahead} ahead of`
        : behind > 0
          ? `${behind} behind`
          : 'level with';
  return `${distance} ${name} as ${upstream.fetchedAt === null ? 'last fetched at an unknown time' : `last fetched ${age(now - Date.parse(upstream.fetchedAt))}`}`;
}

const UNITS: readonly (readonly [number, string])[] = [
  [86_400_000, 'day'],
  [3_600_000, 'hour'],
  [60_000, 'minute'],
];

function age(ms: number): string {
  for (const [size, unit] of UNITS) {
    const count = Math.floor(ms / size);
    if (count >= 1) return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}
