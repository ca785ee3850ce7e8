import { z } from 'zod';
import { OrchestratorError, toOrchestratorError } from '../core/errors/error.js';
import type { Caller, Operation, Scope } from './operation.js';
import type { SessionContext } from './session-context.js';

export interface Call {
  readonly operation: string;
  readonly input: unknown;
  readonly caller: Caller;
  readonly signal: AbortSignal;
  readonly progress?: (message: string) => void;
}

/**
 * The one way in: find → authorise → validate → run → validate the answer. Doors never call `run` themselves.
 * Throws OrchestratorError only.
 */
export async function callOperation(
  operations: readonly Operation[],
  session: SessionContext,
  call: Call,
): Promise<Record<string, unknown>> {
  const operation = operations.find((candidate) => candidate.name === call.operation);
  if (operation === undefined)
    throw new OrchestratorError('UNKNOWN_OPERATION', { operation: call.operation });
  authorise(operation, call.caller, operations);
  if (!isGranted(operation, call.caller.scope, session))
    throw new OrchestratorError('LEAD_MAY_NOT_ANSWER', { operation: operation.name });
  const input = parseInput(operation, call.input);
  const startedAt = session.clock.now();
  const log = session.logger.child({ operation: operation.name, caller: call.caller.name });
  try {
    const context = {
      session,
      caller: call.caller,
      signal: call.signal,
      progress: call.progress ?? (() => undefined),
    };
    const answer = await operation.run(context, input);
    log.debug({ duration_ms: session.clock.now() - startedAt }, 'operation answered');
    return operation.output.parse(answer);
  } catch (thrown) {
    const error = toOrchestratorError(thrown);
    const detail = { code: error.code, message: error.message, duration_ms: session.clock.now() - startedAt };
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

function authorise(operation: Operation, caller: Caller, operations: readonly Operation[]): void {
  if (operation.scopes.includes(caller.scope)) return;
  const allowed = operations
    .filter((other) => other.scopes.includes(caller.scope))
    .map((other) => other.name);
  throw new OrchestratorError('FORBIDDEN', { scope: caller.scope, operation: operation.name, allowed });
}

function parseInput(operation: Operation, input: unknown): Record<string, unknown> {
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
