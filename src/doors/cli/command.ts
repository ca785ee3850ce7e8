import type { Offer } from '../shared/completion/offers.js';
import type { Flag } from './flags.js';
import type { CliHost } from './host.js';
import type { Parsed } from './parse.js';

export interface Command {
  readonly name: string;
  readonly summary: string;
  /** Names of what is given without a flag, in order; all may be left out unless the command says otherwise. */
  readonly positionals: readonly string[];
  /** For completion, of each of those. */
  readonly offers?: readonly Offer[];
  readonly flags: readonly Flag[];
  readonly examples: readonly (readonly [command: string, what: string])[];
  run(host: CliHost, parsed: Parsed): Promise<number>;
}
