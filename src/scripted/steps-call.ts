import { callLine, resultLine } from './summaries.js';
import { brief, firstUnmet, lookUp, StepFailure, type Scope } from './template.js';
import type { ToolResult } from './mcp.js';
import type { Turn } from './turn.js';

export interface CallStep {
  readonly tool: string;
  readonly input: Record<string, unknown>;
  readonly save?: string | undefined;
  readonly expect?: Scope | undefined;
  readonly until?: Scope | undefined;
  readonly while?: Scope | undefined;
  readonly limit: number;
  readonly expect_error?: string | undefined;
  readonly allow_error: boolean;
  readonly timeout_ms?: number | undefined;
  readonly retry: boolean;
}

/** Silence longer than this is the end of a call; progress starts it anew. */
const DEFAULT_TIMEOUT_MS = 120_000;

/** Calls one tool as the step says, shows it, keeps its result. Throws StepFailure where the result is not as it must be. */
export async function callTool(turn: Turn, step: CallStep): Promise<void> {
  for (let round = 1; ; round++) {
    turn.screen.note(callLine(step.tool, step.input));
    const answered = turn.screen.tool(step.tool, step.input);
    const result = await turn.mcp.call(step.tool, step.input, {
      signal: turn.signal,
      timeoutMs: step.timeout_ms ?? DEFAULT_TIMEOUT_MS,
      retry: step.retry,
      onProgress: (message) =>
        turn.screen.activity(message === '' ? `Calling ${step.tool}` : brief(message, 60)),
      onAway: () => turn.screen.activity('Waiting for the MCP server'),
    });
    turn.screen.activity('Working');
    answered(JSON.stringify(result.value), result.isError);
    turn.conversation.values['last'] = result.value;
    if (step.save !== undefined) turn.conversation.values[step.save] = result.value;
    turn.screen.note(`  ⎿ ${result.isError ? 'error: ' : ''}${resultLine(result.value)}`);
    await turn.save();
    checkError(step, result);
    if (!goesOn(step, result.value)) return checkResult(step, result.value);
    if (round >= step.limit) throw new StepFailure(`${step.tool}: still not as wanted after ${round} calls`);
  }
}

function goesOn(step: CallStep, value: unknown): boolean {
  if (step.until !== undefined && firstUnmet(step.until, value) !== null) return true;
  return step.while !== undefined && firstUnmet(step.while, value) === null;
}

function checkError(step: CallStep, result: ToolResult): void {
  if (step.expect_error === undefined) {
    if (result.isError && !step.allow_error)
      throw new StepFailure(`${step.tool} answered with an error: ${brief(result.value, 400)}`);
    return;
  }
  const code =
    lookUp(result.value, 'code') ?? lookUp(result.value, 'error.code') ?? lookUp(result.value, 'text');
  const isWanted = result.isError && typeof code === 'string' && code.includes(step.expect_error);
  if (!isWanted)
    throw new StepFailure(`${step.tool}: wanted error ${step.expect_error}, got ${brief(result.value, 400)}`);
}

function checkResult(step: CallStep, value: unknown): void {
  const unmet = step.expect === undefined ? null : firstUnmet(step.expect, value);
  if (unmet !== null) throw new StepFailure(`${step.tool}: ${unmet}`);
}
