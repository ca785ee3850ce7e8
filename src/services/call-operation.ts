import { z } from 'zod';
import type { Clock } from '../core/clock.js';
import { OrchestratorError, toOrchestratorError } from '../core/errors/error.js';
import type { Logger } from '../platform/logger.js';
import { requireAnswered } from './operation.js';
import type { Caller, Callable, CallContext, Operation, Scope } from './operation.js';
import type { SessionContext } from './session-context.js';

export interface Call {
  readonly operation: string;
  readonly input: unknown;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly progress?: (message: string) => void;
}

/** An operation on a session. Throws OrchestratorError only. */
export async function callOperation(
  operations: readonly Operation[],
  session: SessionContext,
  call: Call,
): Promise<Record<string, unknown>> {
  return callIn(operations, session, call, {
    context: (common) => ({ ...common, session }),
    granted(operation) {
      requireAnswered(session, call.caller);
      if (!isGranted(operation, call.caller.scope, session))
        throw new OrchestratorError('LEAD_MAY_NOT_ANSWER', { operation: operation.name });
    },
  });
}

/**
 * The one way in, whatever the operations are about: find → authorise → validate → run → validate the answer. Doors
 * never call `run` themselves. Throws OrchestratorError only.
 */
export async function callIn<Context, One extends Callable<Context>>(
  operations: readonly One[],
  place: { readonly clock: Clock; readonly logger: Logger },
  call: Call,
  into: { context(common: CallContext): Context; granted?(operation: One): void },
): Promise<Record<string, unknown>> {
  const operation = operations.find((candidate) => candidate.name === call.operation);
  if (operation === undefined)
    throw new OrchestratorError('UNKNOWN_OPERATION', { operation: call.operation });
  authorise(operation, call.caller, operations);
  into.granted?.(operation);
  const input = parseInput(operation, call.input);
  const { clock } = place;
  const startedAt = clock.now();
  const log = place.logger.child({ operation: operation.name, caller: call.caller.name });
  try {
    const { caller, signal, progress = () => undefined } = call;
    const answer = await operation.run(into.context({ caller, signal, progress }), input);
    log.debug({ duration_ms: clock.now() - startedAt }, 'operation answered');
    return operation.output.parse(answer);
  } catch (thrown) {
    const error = toOrchestratorError(thrown);
    const detail = { code: error.code, message: error.message, duration_ms: clock.now() - startedAt };
    if (error.code === 'INTERNAL') log.error({ ...detail, err: error.cause }, 'operation failed');
    else log.info(detail, 'operation refused');
    throw error;
  }
}

/** false: the lead has it in some sessions, but not in this one. */
export function isGranted(
  { leadOption }: Operation,
  scope: Scope,
  { live }: Pick<SessionContext, 'live'>,
): boolean {
  return scope !== 'lead' || leadOption === undefined || live?.plan[leadOption] === true;
}

type Named = Pick<Operation, 'name' | 'scopes' | 'input'>;

function authorise(operation: Named, caller: Caller, operations: readonly Named[]): void {
  if (operation.scopes.includes(caller.scope)) return;
  const allowed = operations
    .filter((other) => other.scopes.includes(caller.scope))
    .map((other) => other.name);
  throw new OrchestratorError('FORBIDDEN', { scope: caller.scope, operation: operation.name, allowed });
}

function parseInput(operation: Named, input: unknown): Record<string, unknown> {
  const parsed = z.strictObject(operation.input.shape).safeParse(input ?? {});
  if (parsed.success) return parsed.data;
  const issue = parsed.error.issues[0];
  const field = issue?.path.join('.') ?? '';
  const known = Object.keys(operation.input.shape);
  throw new OrchestratorError('INVALID_INPUT', {
    ...(field === '' ? {} : { field }),
    problem: describeIssue(issue, input),
    hint: `${operation.name} takes: ${known.length === 0 ? 'nothing' : known.join(', ')}`,
  });
}

function describeIssue(issue: z.core.$ZodIssue | undefined, input: unknown): string {
  if (issue === undefined) return 'unknown problem';
  if (issue.code === 'unrecognized_keys')
    return `unknown field ${issue.keys.map((key) => `"${key}"`).join(', ')}`;
  const value = issue.path.reduce<unknown>(
    (at, key) => (at as Record<PropertyKey, unknown> | undefined)?.[key],
    input,
  );
  const shown = value === undefined ? '' : ` (got ${JSON.stringify(value)?.slice(0, 80)})`;
  return `${issue.message}${shown}`;
}
