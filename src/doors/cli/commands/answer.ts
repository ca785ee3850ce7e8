import { EXIT } from '../../../core/errors/categories.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import type { AttentionItem } from '../../../services/supervise/attention.js';
import { saysYes } from '../ask.js';
import type { CliHost } from '../host.js';
import { prompt } from '../output/attention.js';
import type { Parsed } from '../parse.js';
import { listAttention } from './attention.js';
import { whichRunningSession } from './which-session.js';

/** Answers one prompt of one worker: the one that the hash names, or the one that is shown and confirmed here. */
export async function answer(host: CliHost, parsed: Parsed): Promise<number> {
  const given = readAnswer(parsed);
  if (given.hash === undefined && !host.terminal.stdinIsTty)
    throw new OrchestratorError('USAGE', {
      problem: 'without a terminal the prompt must be named: --prompt-hash is missing',
      hint: 'agentorchestr attention shows the hash of each prompt; what has none is said in its pane: agentorchestr attach',
    });
  const sessionId = await whichRunningSession(host, parsed.text('session'));
  const hash = given.hash ?? (await confirmed(host, sessionId, given));
  if (hash === null) {
    host.terminal.err('nothing was answered\n');
    return EXIT.operation;
  }
  const { workerId, choice, text, message } = given;
  const input = { worker_id: workerId, prompt_hash: hash, choice, text, message };
  const said = Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined));
  const answered = await host.call(sessionId, { name: 'answer_worker', effect: 'write' }, said);
  host.terminal.out(
    parsed.isOn('json') === true ? `${JSON.stringify(answered, null, 2)}\n` : `${workerId} is answered\n`,
  );
  return EXIT.ok;
}

interface Given {
  readonly workerId: string;
  readonly choice: number | undefined;
  readonly text: string | undefined;
  readonly hash: string | undefined;
  readonly message: string | undefined;
}

function readAnswer(parsed: Parsed): Given {
  const [workerId] = parsed.positionals;
  const [choice, text] = [parsed.text('choice'), parsed.text('text')];
  const example = 'for example: agentorchestr answer w02 --choice 1';
  if (workerId === undefined)
    throw new OrchestratorError('USAGE', { problem: 'which worker is answered?', hint: example });
  if ((choice === undefined) === (text === undefined))
    throw new OrchestratorError('USAGE', {
      problem: choice === undefined ? 'no answer given' : '--choice and --text contradict each other',
      hint: choice === undefined ? `${example}, or --text "…" for a question` : 'give one of them',
    });
  if (choice !== undefined && !/^[1-9]\d?$/.test(choice))
    throw new OrchestratorError('USAGE', {
      problem: `--choice takes the number of a choice (got "${choice}")`,
      hint: 'agentorchestr attention shows the choices',
    });
  return {
    workerId,
    choice: choice === undefined ? undefined : Number(choice),
    text,
    hash: parsed.text('prompt-hash'),
    message: parsed.text('message'),
  };
}

/** Shows what the worker waits with and asks; the hash of exactly that, or null when the person says no. */
async function confirmed(host: CliHost, sessionId: string, given: Given): Promise<string | null> {
  const { workerId, choice, text } = given;
  const fits = (item: AttentionItem) => (text === undefined) === item.choices.length > 0;
  const items = (await listAttention(host, sessionId)).filter(
    (item) => item.worker_id === workerId && item.prompt_hash !== null,
  );
  const item = items.find(fits) ?? items[0];
  if (item === undefined) throw new OrchestratorError('NOTHING_WAITS', { worker: workerId });
  const chosen = item.choices.find(({ number }) => number === choice);
  if (!fits(item) || (text === undefined && chosen === undefined))
    throw new OrchestratorError('NO_SUCH_CHOICE', {
      worker: workerId,
      given: text === undefined ? `choice ${choice}` : 'a text',
      valid: item.choices.map(({ number, label }) => `${number} ${label}`),
    });
  const { terminal } = host;
  terminal.err(`${workerId} waits (${item.kind}):\n${prompt(item).join('\n')}\n`);
  const said = chosen === undefined ? `"${text ?? ''}"` : `${chosen.number}. ${chosen.label}`;
  return (await saysYes(terminal, `Answer ${said}?`)) ? item.prompt_hash : null;
}
