import type { Preflight } from '../../services/gateway/preflight/preflight.js';

/** For people: a line for each check, and below it what to do where there is something. */
export function preflightLines({ ok, checks }: Preflight): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  const lines = checks.flatMap(({ state, name, found, next_step: next }) => [
    `${state.padEnd(7)}  ${name.padEnd(width)}  ${found}`,
    ...(next === null ? [] : [`         → ${next}`]),
  ]);
  const failures = checks.filter(({ state }) => state === 'failed').length;
  return [...lines, '', ok ? 'ready to start' : `not ready: ${failures} failed`, ''].join('\n');
}
