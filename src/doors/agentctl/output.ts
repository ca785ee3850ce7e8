import { EXIT } from '../../core/errors/categories.js';
import { errorBody, toOrchestratorError } from '../../core/errors/error.js';
import { plain } from '../shared/plain.js';
import type { Format, Options } from './arguments.js';
import type { AgentctlHost } from './host.js';

type Printer = Pick<AgentctlHost, 'out' | 'err' | 'stdoutIsTty'>;

/** Prints one answer, or of it the field that is asked for. Returns the exit code: 5 where that field is absent. */
export function printAnswer(host: Printer, answer: unknown, { format, field }: Options): number {
  if (field === null) {
    host.out(safe(host, formatted(answer, format)));
    return EXIT.ok;
  }
  const found = fieldOf(answer, field);
  if (found === undefined) {
    host.err(`error: the answer has no field ${field}\n`);
    return EXIT.fieldAbsent;
  }
  host.out(safe(host, `${typeof found === 'string' ? found : JSON.stringify(found)}\n`));
  return EXIT.ok;
}

/** One event of many: a line of its own in every format. One without the field is left out. */
export function printEvent(host: Printer, event: Record<string, unknown>, { format, field }: Options): void {
  if (field !== null) {
    const found = fieldOf(event, field);
    if (found !== undefined)
      host.out(safe(host, `${typeof found === 'string' ? found : JSON.stringify(found)}\n`));
  } else if (format === 'text') {
    const { at, type, data } = event;
    host.out(safe(host, `${String(at)} ${String(type)} ${JSON.stringify(data)}\n`));
  } else host.out(`${json(event)}\n`);
}

/** On stderr: for people `error:` and `hint:`, for programs one line of JSON. Returns the exit code. */
export function printError(host: Printer, thrown: unknown, format: Format): number {
  const error = toOrchestratorError(thrown);
  const { hint } = error;
  if (format === 'json' || format === 'jsonl') host.err(`${JSON.stringify({ error: errorBody(error) })}\n`);
  else host.err(`error: ${plain(error.message)}\n${hint === undefined ? '' : `hint: ${plain(hint)}\n`}`);
  return error.exitCode;
}

/** `queue_counts.queued_count`, `sessions.0.id`; undefined: there is no such key. A null is a value. */
function fieldOf(answer: unknown, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => {
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return undefined;
    return (at as Record<string, unknown>)[key];
  }, answer);
}

function formatted(answer: unknown, format: Format): string {
  switch (format) {
    case 'pretty':
      return `${json(answer, 2)}\n`;
    case 'json':
      return `${json(answer)}\n`;
    case 'jsonl':
      return (listOf(answer) ?? [answer]).map((one) => `${json(one)}\n`).join('');
    case 'text':
      return (listOf(answer) ?? [answer]).map((one) => `${leaves(one).join('\n')}\n`).join('\n');
  }
}

/** What steers terminals and JSON leaves as it is (DEL, C1) is escaped: the value stays the same. */
function json(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    /[\x7f-\x9f]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

/** The things of a page; null: the answer is no page. */
function listOf(answer: unknown): readonly unknown[] | null {
  if (typeof answer !== 'object' || answer === null) return null;
  const [first] = Object.values(answer) as unknown[];
  return Array.isArray(first) ? (first as unknown[]) : null;
}

/** `run.state: succeeded`, a line for each value. */
function leaves(value: unknown, path = ''): string[] {
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, one]) => leaves(one, path === '' ? key : `${path}.${key}`));
  return [`${path}: ${typeof value === 'string' ? value : JSON.stringify(value)}`];
}

/** What agents wrote must not steer somebody's terminal; a pipe gets it as it is. */
function safe({ stdoutIsTty }: Printer, text: string): string {
  return stdoutIsTty ? plain(text) : text;
}
