import { OrchestratorError } from '../../core/errors/error.js';
import type { Choice, Evidence } from '../../core/state/states.js';
import { isLiveWorker } from '../../core/state/states.js';
import { findWorker, requireLive, type SessionContext } from '../session-context.js';
import { attention, type AttentionItem } from './attention.js';
import { sendToWorker } from './send-to-worker.js';

export interface AnswerRequest {
  readonly workerId: string;
  readonly promptHash: string;
  /** Exactly one of the two: the number of a choice, or the text that answers a question. */
  readonly choice?: number | undefined;
  readonly text?: string | undefined;
  /** With a refusal: what the agent is told, where it asked in a way that takes that. */
  readonly message?: string | undefined;
  readonly by: string;
  readonly sender: string;
}

export interface WorkerAnswered {
  readonly evidence: Evidence;
  /** Of the message that carries a text. */
  readonly messageId: string | null;
}

type Prompt = Pick<AttentionItem, 'text' | 'choices'> & { readonly prompt_hash: string };

/**
 * Answers the one prompt of a worker that the hash names. Throws UNKNOWN_WORKER, WORKER_NOT_RUNNING, NOTHING_WAITS,
 * PROMPT_CHANGED with what is there now, NO_SUCH_CHOICE, NOT_ANSWERABLE, ANSWER_UNCONFIRMED.
 */
export async function answerWorker(session: SessionContext, request: AnswerRequest): Promise<WorkerAnswered> {
  const live = requireLive(session);
  const { workerId, promptHash, choice, text } = request;
  const worker = findWorker(session, workerId);
  if (!isLiveWorker(worker.state)) throw notRunning(session, workerId);
  if ((choice === undefined) === (text === undefined))
    throw new OrchestratorError('INVALID_INPUT', {
      field: 'choice',
      problem: 'give either the number of a choice or the text of an answer',
    });
  if (text !== undefined) return answerQuestion(session, { ...request, text });
  const number = choice ?? 0;
  const item = promptsOf(session, workerId).find(({ prompt_hash: hash }) => hash === promptHash);
  if (item !== undefined && item.choices.length === 0) throw noChoice(workerId, `choice ${number}`, item);
  const { by, message = '' } = request;
  if (message !== '') checkMessage(item, number);
  const outcome = await live.engine.answer(workerId, { promptHash, choice: number, message, by });
  switch (outcome?.outcome) {
    case undefined:
      throw notRunning(session, workerId);
    case 'answered':
      return { evidence: outcome.evidence, messageId: null };
    case 'no_choice':
      throw noChoice(workerId, `choice ${number}`, item);
    case 'refused':
      throw new OrchestratorError('NOT_ANSWERABLE', { worker: workerId, problem: outcome.reason });
    case 'unconfirmed':
      throw new OrchestratorError('ANSWER_UNCONFIRMED', { worker: workerId, screen: outcome.screen });
    case 'changed':
      throw changed(session, workerId, promptHash, outcome.shown);
  }
}

/** What would not reach the agent is not taken. */
function checkMessage(item: AttentionItem | undefined, choice: number): void {
  const refusal = item?.choices.at(-1)?.number;
  const problem =
    item?.via === 'screen'
      ? 'this prompt is answered by keys, which carry no message'
      : choice === refusal
        ? null
        : 'a message goes with a refusal only';
  if (problem === null) return;
  const hint = 'answer without it, then send it to the worker as a message of its own';
  throw new OrchestratorError('INVALID_INPUT', { field: 'message', problem, hint });
}

/** A worker's question to the lead is answered the way every message goes. */
async function answerQuestion(
  session: SessionContext,
  request: AnswerRequest & { text: string },
): Promise<WorkerAnswered> {
  const { workerId, promptHash, text, sender } = request;
  const prompts = promptsOf(session, workerId);
  const question = prompts.find(({ choices }) => choices.length === 0);
  if (question?.prompt_hash !== promptHash) {
    const dialog = prompts.find(({ prompt_hash: hash }) => hash === promptHash);
    if (dialog !== undefined) throw noChoice(workerId, 'a text', dialog);
    throw changed(session, workerId, promptHash, null);
  }
  const receipt = await sendToWorker(session, { workerId, text, sender });
  return { evidence: 'protocol', messageId: receipt.message_id };
}

function promptsOf(session: SessionContext, workerId: string): (AttentionItem & Prompt)[] {
  return attention(session.store, session.sessionId, null).flatMap((item) =>
    item.worker_id === workerId && item.prompt_hash !== null
      ? [{ ...item, prompt_hash: item.prompt_hash }]
      : [],
  );
}

/** What waits now: what the agent itself asks for, else what its screen shows, else what is recorded. */
function changed(
  session: SessionContext,
  workerId: string,
  asked: string,
  shown: { text: string; choices: readonly Choice[]; promptHash: string } | null,
): OrchestratorError {
  const others = promptsOf(session, workerId).filter(({ prompt_hash: hash }) => hash !== asked);
  const onScreen =
    shown === null || shown.promptHash === asked
      ? null
      : { text: shown.text, choices: [...shown.choices], prompt_hash: shown.promptHash };
  const now: Prompt | undefined = others.find(({ via }) => via !== 'screen') ?? onScreen ?? others[0];
  if (now === undefined) return new OrchestratorError('NOTHING_WAITS', { worker: workerId });
  return new OrchestratorError('PROMPT_CHANGED', {
    worker: workerId,
    text: now.text,
    prompt_hash: now.prompt_hash,
    choices: listed(now.choices),
  });
}

function noChoice(worker: string, given: string, item: AttentionItem | undefined): OrchestratorError {
  const valid = listed(item?.choices ?? []);
  return new OrchestratorError('NO_SUCH_CHOICE', { worker, given, valid });
}

function listed(choices: readonly Choice[]): string[] {
  return choices.map(({ number, label }) => `${number} ${label}`);
}

function notRunning(session: SessionContext, workerId: string): OrchestratorError {
  const { state } = findWorker(session, workerId);
  return new OrchestratorError('WORKER_NOT_RUNNING', { worker: workerId, state });
}
