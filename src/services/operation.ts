import type { z } from 'zod';
import { OrchestratorError } from '../core/errors/error.js';
import type { SessionContext } from './session-context.js';

/** Who calls, as the token or the local user says. `lead`, `worker` and `run` are bound to one session. */
export const SCOPES = ['lead', 'worker', 'run', 'client', 'admin'] as const;
export type Scope = (typeof SCOPES)[number];

/** Options of a session's plan that give the lead more than it has by default. */
export type LeadOption = 'lead_may_answer';

export interface Caller {
  readonly scope: Scope;
  /** The worker the token belongs to; null for clients. */
  readonly workerId: string | null;
  /** Of scope `run`: the run whose agent calls. */
  readonly runId?: string;
  /** Name for receipts and logs: `lead`, `w03`, `cli`. */
  readonly name: string;
  /** The longest this caller's client lets one call take, ms; long calls answer before. */
  readonly callLimitMs: number;
}

/** So long before its client would give up, ms, a call is answered. */
const MARGIN_MS = 5_000;

/** How long one call may wait, ms: as asked, but not longer than its client lets it. */
export function waitLimitMs(caller: Pick<Caller, 'callLimitMs'>, askedMs: number): number {
  return Math.min(askedMs, Math.max(1_000, caller.callLimitMs - MARGIN_MS));
}

/** Throws SESSION_ENDED for an agent that is being ended with its session. */
export function requireAnswered({ live, sessionId }: SessionContext, caller: Caller): void {
  if (!isBeingEnded({ live }, caller)) return;
  throw new OrchestratorError('SESSION_ENDED', { session: sessionId, state: 'its agents are being ended' });
}

/** What becomes of the others meanwhile is no news for it: whoever goes on with the session is told. */
export function isBeingEnded({ live }: Pick<SessionContext, 'live'>, { scope }: Caller): boolean {
  return (scope === 'lead' || scope === 'worker') && live?.ending.signal.aborted === true;
}

/** What every operation is told of the call, whatever it is about. */
export interface CallContext {
  readonly caller: Caller;
  /** Aborts when the caller hangs up. */
  readonly signal: AbortSignal;
  /** Tells a waiting caller that we are alive; cheap, may be dropped. */
  progress(message: string): void;
}

export interface OperationContext extends CallContext {
  readonly session: SessionContext;
}

/** true, or the reason why the operation is not offered there. */
export type Offered = true | string;

/** The part of an operation by which it is called. */
export interface Callable<
  Context,
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> {
  readonly name: string;
  /** One sentence for people and models. */
  readonly summary: string;
  readonly effect: 'read' | 'write' | 'destroy';
  /** Calling twice with the same input is the same as calling once. */
  readonly idempotent: boolean;
  readonly scopes: readonly Scope[];
  /** May wait long: the door sends progress meanwhile. */
  readonly waits?: boolean;
  readonly input: Input;
  readonly output: Output;
  run(context: Context, input: z.output<Input>): Promise<z.input<Output>>;
}

/**
 * One thing the product can do for a caller, declared once; every door projects it. `effect` decides MCP's hints and
 * REST's method: read → GET, write and destroy → POST.
 */
export interface Operation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> extends Callable<OperationContext, Input, Output> {
  /** The lead has it only where the user said so when the session was started. */
  readonly leadOption?: LeadOption;
  readonly doors: { readonly mcp: Offered; readonly rest: Offered; readonly cli: Offered };
  /** Fields that the command line takes without a flag, in order. */
  readonly positional?: readonly string[];
  /** Fields that the command line fills with the size of its own terminal when they are not given. */
  readonly fromTerminal?: readonly ('columns' | 'rows')[];
}

/** The usual: offered wherever it can be asked for, to the lead and to people. */
export const EVERY_DOOR = { mcp: true, rest: true, cli: true } as const;
export const PEOPLE: readonly Scope[] = ['client', 'admin'];
export const LEAD_AND_PEOPLE: readonly Scope[] = ['lead', 'client', 'admin'];

/** What a worker says of itself: it has the token for it, people have not. */
export const WORKER_DOORS = {
  mcp: true,
  rest: 'the word of the worker itself; its own connection is MCP',
  cli: "needs the worker's own token; agents have it, people do not",
} as const;

/** The worker that calls. Throws FORBIDDEN for everybody else. */
export function callingWorker({ caller }: OperationContext): string {
  if (caller.workerId !== null) return caller.workerId;
  throw new OrchestratorError('FORBIDDEN', { scope: caller.scope, operation: 'worker reports', allowed: [] });
}

/** Type inference only. */
export function defineOperation<Input extends z.ZodObject, Output extends z.ZodObject>(
  operation: Operation<Input, Output>,
): Operation {
  return operation;
}
