import { EXIT } from '../../../core/errors/categories.js';
import type { AttentionItem } from '../../../services/supervise/attention.js';
import type { CliHost } from '../host.js';
import { renderAttention, renderItem } from '../output/attention.js';
import { createPaint } from '../output/paint.js';
import type { Parsed } from '../parse.js';
import { whichRunningSession } from './which-session.js';

/** Lists what waits for the person; with `--watch` also what comes, until the session is over. */
export async function attention(host: CliHost, parsed: Parsed): Promise<number> {
  const sessionId = await whichRunningSession(
    host,
    parsed.positionals[0],
    (id) => `agentorchestr attention ${id}`,
  );
  const { terminal } = host;
  const json = parsed.isOn('json') ?? false;
  const since = host.now();
  const items = await listAttention(host, sessionId);
  const options = { paint: createPaint(terminal, host.env, 'stdout'), sessionId, now: host.now() };
  terminal.out(
    json ? `${JSON.stringify({ session_id: sessionId, items }, null, 2)}\n` : renderAttention(items, options),
  );
  if (parsed.isOn('watch') === true) await watch(host, sessionId, items, { json, since });
  return EXIT.ok;
}

export async function listAttention(host: CliHost, sessionId: string): Promise<readonly AttentionItem[]> {
  const answer = await host.call(sessionId, { name: 'list_attention', effect: 'read' }, {});
  return answer['items'] as readonly AttentionItem[];
}

/** Each new item once, with the bell; in JSON one object per line. */
async function watch(
  host: CliHost,
  sessionId: string,
  shown: readonly AttentionItem[],
  { json, since }: { json: boolean; since: number },
): Promise<void> {
  const { terminal } = host;
  const paint = createPaint(terminal, host.env, 'stdout');
  let known = new Set(shown.map(keyOf));
  const signal = terminal.interrupted;
  for await (const event of host.events(sessionId, { after: 0, follow: true, signal })) {
    if (!CONCERNS.test(event.type) || signal.aborted) continue;
    // What came of it is shown already.
    if (Date.parse(event.at) < since) continue;
    const items = await listAttention(host, sessionId);
    for (const item of items.filter((candidate) => !known.has(keyOf(candidate)))) {
      const text = json
        ? JSON.stringify(item)
        : `\n${renderItem(item, { paint, sessionId, now: host.now() })}`;
      terminal.out(`${text}\n`);
      if (terminal.stderrIsTty) terminal.err('\u0007');
    }
    known = new Set(items.map(keyOf));
  }
}

const CONCERNS = /^(worker\.(waiting|exited|lost)|run\.waiting|message\.(held|unconfirmed))$/;

function keyOf({ worker_id: worker, kind, prompt_hash: hash, since }: AttentionItem): string {
  return `${worker} ${kind} ${hash} ${since}`;
}
