import { resolve } from 'node:path';
import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { SalvagedItem } from '../../../services/supervise/salvaged-work.js';
import type { CliHost } from '../host.js';
import { renderAnswer } from '../output/answer.js';
import { renderSalvaged } from '../output/cleaning.js';
import { createPaint } from '../output/paint.js';
import type { Parsed } from '../parse.js';

const LOOKED_AT = 1_000;
const REF = /^refs\/agentorchestr\/salvage\//;

/** Work that was kept before its worktree went: what there is, and the way back. */
export async function salvage(host: CliHost, parsed: Parsed): Promise<number> {
  const [verb, what, extra] = parsed.positionals;
  if (extra !== undefined)
    throw new OrchestratorError('USAGE', {
      problem: `unexpected argument "${extra}"`,
      hint: 'agentorchestr salvage list [ID], or: agentorchestr salvage restore ID',
    });
  if (verb === 'list') return list(host, what, parsed);
  if (verb === 'restore') return restore(host, what, parsed);
  throw new OrchestratorError('USAGE', {
    problem: verb === undefined ? 'salvage what?' : `unknown: salvage ${verb}`,
    hint: 'agentorchestr salvage list, or: agentorchestr salvage restore 3f2a/w01 --to DIR',
  });
}

async function list(host: CliHost, prefix: string | undefined, parsed: Parsed): Promise<number> {
  for (const flag of ['to', 'branch'])
    if (parsed.given.includes(flag))
      throw new OrchestratorError('USAGE', {
        problem: `--${flag} goes with restore`,
        hint: 'list takes a session',
      });
  const sessions =
    prefix === undefined
      ? (await host.listSessions(LOOKED_AT))
          .filter((session) => session.salvaged)
          .map((session) => session.session_id)
      : [await host.findSession(prefix)];
  const items: SalvagedItem[] = [];
  for (const sessionId of sessions) items.push(...(await salvagedOf(host, sessionId)));
  const paint = createPaint(host.terminal, host.env, 'stdout');
  host.terminal.out(
    parsed.isOn('json') === true
      ? `${JSON.stringify({ salvaged: items }, null, 2)}\n`
      : renderSalvaged(items, { paint, now: host.now() }),
  );
  return EXIT.ok;
}

async function salvagedOf(host: CliHost, sessionId: string): Promise<readonly SalvagedItem[]> {
  const answer = await host.call(sessionId, { name: 'list_salvage', effect: 'read' }, {});
  return answer['salvaged'] as readonly SalvagedItem[];
}

async function restore(host: CliHost, given: string | undefined, parsed: Parsed): Promise<number> {
  if (given === undefined)
    throw new OrchestratorError('USAGE', {
      problem: 'which work is restored?',
      hint: 'agentorchestr salvage list shows what is kept',
    });
  const [to, branch] = [parsed.text('to'), parsed.text('branch')];
  if (to !== undefined && branch !== undefined)
    throw new OrchestratorError('USAGE', {
      problem: '--to and --branch contradict each other',
      hint: 'give one',
    });
  const { sessionId, work } = await whichWork(host, given);
  const input = { work, to: to === undefined ? null : resolve(to), branch: branch ?? null };
  const answer = await host.call(sessionId, { name: 'restore_salvage', effect: 'write' }, input);
  host.terminal.out(
    parsed.isOn('json') === true ? `${JSON.stringify(answer, null, 2)}\n` : renderAnswer(answer),
  );
  return EXIT.ok;
}

/** A ref, `<session>/<worker>`, or a session of which one thing is kept. */
async function whichWork(host: CliHost, given: string): Promise<{ sessionId: string; work: string }> {
  const [prefix = '', ...rest] = given.replace(REF, '').split('/');
  const sessionId = await host.findSession(prefix);
  if (rest.length > 0) return { sessionId, work: rest.join('/') };
  const items = await salvagedOf(host, sessionId);
  const [only, ...others] = items;
  if (only === undefined || others.length > 0)
    throw new OrchestratorError('NOT_SALVAGED', { ref: given, valid: items.map(({ id }) => id) });
  return { sessionId, work: only.id.slice(sessionId.length + 1) };
}
