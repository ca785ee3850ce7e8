import type { Said } from '../../backends/contract.js';
import type { EventName, NewEvent } from '../../core/events/index.js';
import { fact, type EngineDeps } from './deps.js';
import type { WorkerRecord } from './worker-record.js';

/** Of a tool's output in the log; the whole of it is in the conversation that the agent keeps. */
const LONGEST_OUTPUT = 64 * 1024;
/** Past this the log takes no more of one turn; its end is still heard. */
const MOST_STORED = 50 * 1024 * 1024;

const STORED: readonly EventName[] = [
  'text.completed',
  'reasoning.completed',
  'tool.called',
  'tool.returned',
  'usage.reported',
  'permission.denied',
];

const OUTPUT: readonly Said['said'][] = ['text', 'reasoning', 'tool_called', 'tool_returned'];

/** Takes down what the process of one turn says. The same process read again from its beginning adds nothing twice. */
export class TurnStream {
  readonly #deps: EngineDeps;
  readonly #record: WorkerRecord;
  readonly attemptId: string;
  /** Whose process it is: what it says last may come when the next run has begun. */
  readonly #runId: string | undefined;
  /** What an earlier supervisor took down already. */
  #skip: number;
  #stored = 0;
  /** It has said or done something. */
  hasSaid = false;
  /** The agent said how its turn ended. */
  hasEnded = false;
  /** The last word of a turn of which something still runs in the background; null: it said none since. */
  rests: string | null = null;
  hasRested = false;

  /** `again`: the process is an earlier supervisor's. */
  constructor(deps: EngineDeps, record: WorkerRecord, attemptId: string, again: boolean) {
    this.#deps = deps;
    this.#record = record;
    this.attemptId = attemptId;
    this.#runId = deps.store.attempts(deps.sessionId).find(({ attempt_id: id }) => id === attemptId)?.run_id;
    this.#skip = again ? takenDown(deps, record.workerId, attemptId) : 0;
  }

  take(said: Said): void {
    this.hasSaid ||= OUTPUT.includes(said.said);
    if (said.said === 'turn_ended' || said.said === 'turn_failed') this.hasEnded = true;
    if (said.said === 'turn_ended') this.rests = said.goesOn === true ? said.text : null;
    if (said.said === 'turn_failed') this.rests = null;
    this.hasRested ||= this.rests !== null;
    const event = this.#eventOf(said);
    if (event === null) return;
    if (!STORED.includes(event.type)) {
      if (this.#skip === 0) this.#deps.store.publish(event);
      return;
    }
    if (this.#skip > 0) return void this.#skip--;
    const bytes = JSON.stringify(event.data).length;
    if (this.#stored + bytes > MOST_STORED && event.type !== 'usage.reported') return;
    this.#stored += bytes;
    this.#record.append(event);
  }

  #eventOf(said: Said): NewEvent | null {
    const subject = this.#record.subject(this.#runId, 'protocol');
    switch (said.said) {
      case 'text':
        return said.delta
          ? fact('text.delta', subject, { text: said.text })
          : fact('text.completed', subject, { text: said.text });
      case 'reasoning':
        return said.delta
          ? fact('reasoning.delta', subject, { text: said.text })
          : fact('reasoning.completed', subject, { text: said.text });
      case 'tool_called':
        return fact('tool.called', subject, { tool: said.tool, call_id: said.callId, input: said.input });
      case 'tool_returned':
        return fact('tool.returned', subject, {
          call_id: said.callId,
          is_error: said.isError,
          output: cut(said.output),
        });
      case 'usage':
        return fact('usage.reported', subject, {
          input_tokens: said.inputTokens,
          output_tokens: said.outputTokens,
          cost_usd: said.costUsd,
        });
      case 'denied':
        return fact('permission.denied', subject, { tool: said.tool, text: said.text });
      case 'note':
        this.#deps.logger.info({ worker: this.#record.workerId, note: said.text }, 'the agent says');
        return null;
      case 'thread':
      case 'prompt_taken':
      case 'turn_ended':
      case 'turn_failed':
        return null;
    }
  }
}

function takenDown(deps: EngineDeps, workerId: string, attemptId: string): number {
  const { store, sessionId } = deps;
  const begins = store
    .events({ after: 0, sessionId, workerId, types: ['run.started'] })
    .findLast(({ data }) => data.attempt_id === attemptId);
  return store.events({ sessionId, workerId, after: begins?.seq ?? store.head(), types: STORED }).length;
}

function cut(output: string): string {
  if (output.length <= LONGEST_OUTPUT) return output;
  return `${output.slice(0, LONGEST_OUTPUT)}\n… ${output.length - LONGEST_OUTPUT} more characters`;
}
