import type { z } from 'zod';
import { callIn, type Call } from '../call-operation.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { withTexts } from '../../platform/redact.js';
import type { Callable, CallContext, Scope } from '../operation.js';
import { checkReach } from './children/lineage.js';
import type { Gateway } from './gateway.js';

export interface GatewayCall extends CallContext {
  readonly gateway: Gateway;
}

export interface Address {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** `{name}` is a field of the input. */
  readonly path: string;
  /** What it answers with when all is well. */
  readonly status: number;
  /** Where the answer decides that: another one. */
  readonly otherwise?: {
    readonly status: number;
    when(answer: Readonly<Record<string, unknown>>): boolean;
  };
}

/** One thing that the gateway can do for a caller. Its door projects the table; see `services/operation.ts`. */
export interface GatewayOperation<
  Input extends z.ZodObject = z.ZodObject,
  Output extends z.ZodObject = z.ZodObject,
> extends Callable<GatewayCall, Input, Output> {
  readonly address: Address;
  /** What an agent (scope `run`) may name: its own run, or what is below its session. Absent: below. */
  readonly reach?: 'own';
}

export const CLIENTS: readonly Scope[] = ['client', 'admin'];
/** And agents, of what is below their own session. */
export const CLIENTS_AND_ABOVE: readonly Scope[] = ['run', 'client', 'admin'];

/** Type inference only. */
export function defineGatewayOperation<Input extends z.ZodObject, Output extends z.ZodObject>(
  operation: GatewayOperation<Input, Output>,
): GatewayOperation {
  return operation;
}

/** The one way to an operation of the gateway. Throws OrchestratorError only. */
export function callGateway(
  operations: readonly GatewayOperation[],
  gateway: Gateway,
  call: Call,
): Promise<Record<string, unknown>> {
  const { caller } = call;
  const input = ownRun(operations, call);
  const run = caller.runId === undefined ? null : gateway.store.run(caller.runId);
  const answered = run === null ? null : gateway.conversations.calling(run.session_id, run.worker_id);
  return callIn(
    operations,
    gateway,
    { ...call, input },
    {
      context: (common) => ({ ...common, gateway }),
      granted({ name, reach }) {
        checkReach(gateway.store, caller, { name, reach: reach ?? 'below', target: input });
        refuseSecrets(gateway, input);
      },
    },
  ).finally(() => answered?.());
}

/** It would reach the agent without it: events are kept without secrets. To be told so is better than that. */
function refuseSecrets({ holdsSecret }: Gateway, input: object): void {
  let isHeld = false;
  const look = (text: string) => {
    isHeld ||= holdsSecret(text);
    return text;
  };
  const field = Object.entries(input).find(([, value]) => (withTexts(value, look), isHeld))?.[0];
  if (field !== undefined)
    throw new OrchestratorError('INVALID_INPUT', {
      ...{ field, problem: 'it holds a token or key of the daemon, which is never written down' },
      hint: 'name the variable that holds it instead: agents have it in their environment',
    });
}

/** An agent that speaks for its own run need not know its id. */
function ownRun(operations: readonly GatewayOperation[], { operation, input, caller }: Call): object {
  const given = typeof input === 'object' && input !== null ? input : {};
  const isOwn = operations.find(({ name }) => name === operation)?.reach === 'own';
  return isOwn && caller.runId !== undefined ? { run_id: caller.runId, ...given } : given;
}
