import { OrchestratorError } from '../../core/errors/error.js';

export interface ProvidersGiven {
  readonly provider?: string | undefined;
  readonly providers?: readonly string[] | undefined;
}

/** Whom a request wants its runs to ask, in order; null: it does not say. Throws INVALID_INPUT. */
export function wantedProviders({ provider, providers }: ProvidersGiven): readonly string[] | null {
  if (providers === undefined) return provider === undefined ? null : [provider];
  const twice = providers.find((name, index) => providers.indexOf(name) !== index);
  if (twice !== undefined) throw problem('providers', `it names ${twice} twice`);
  if (provider !== undefined && provider !== providers[0])
    throw problem('provider', 'it is not the first of providers');
  return providers;
}

/** Another first one for a conversation keeps those that stand in. */
export function changedProviders(given: ProvidersGiven, now: readonly string[]): readonly string[] | null {
  const wanted = wantedProviders(given);
  if (wanted === null || given.providers !== undefined) return wanted;
  return [...wanted, ...now.slice(1).filter((name) => name !== wanted[0])];
}

function problem(field: string, what: string): OrchestratorError {
  return new OrchestratorError('INVALID_INPUT', { field, problem: what });
}
