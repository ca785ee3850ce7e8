import { EXIT } from '../../../core/errors/categories.js';
import type { CliHost } from '../host.js';
import { plain } from '../output/plain.js';
import type { Parsed } from '../parse.js';
import { whichSession } from './which-session.js';

/** A late `--apply`: the result of a session that is over comes into the checkout, or nothing changes. */
export async function merge(host: CliHost, parsed: Parsed): Promise<number> {
  const sessionId = await whichSession(host, parsed.positionals[0]);
  const input = { anyway: parsed.isOn('anyway') ?? false };
  const merged = await host.call(sessionId, { name: 'merge', effect: 'write' }, input);
  host.terminal.out(
    parsed.isOn('json') === true
      ? `${JSON.stringify(merged, null, 2)}\n`
      : `session ${sessionId}: ${plain(String(merged['how']))}\n`,
  );
  if (parsed.isOn('json') !== true && (await host.report(sessionId)).cleaned_at === null)
    host.terminal.err(`what the session left can go: agentorchestr clean ${sessionId}\n`);
  return EXIT.ok;
}
