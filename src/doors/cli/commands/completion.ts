import { shellOf } from '../../shared/completion/script.js';
import type { CliHost } from '../host.js';

/** Prints the script of one shell. Throws USAGE. */
export async function completion(host: CliHost, given: readonly string[]): Promise<number> {
  host.terminal.out(await host.completionScript(shellOf(given, 'agentorchestr')));
  return 0;
}
