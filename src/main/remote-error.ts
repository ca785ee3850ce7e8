import { CATALOG, type ErrorCode } from '../core/errors/catalog.js';
import { OrchestratorError } from '../core/errors/error.js';

/** The error of another process of ours as if it were thrown here: its own words, our exit code. */
class RemoteError extends OrchestratorError {
  readonly #hint: string | undefined;

  constructor(code: ErrorCode, message: string, hint: string | undefined) {
    super(code);
    this.message = message;
    this.#hint = hint;
  }

  override get hint(): string | undefined {
    return this.#hint;
  }
}

/** What an answer that is no success says (problem+json). `who` gave it; `hints`: what we know better to do than they. */
export function remoteError(
  { status, body }: { status: number; body: unknown },
  who: string,
  hints: Partial<Record<ErrorCode, string>> = {},
): Error {
  const problem = (body ?? {}) as { code?: string; detail?: string; hint?: string };
  const code =
    problem.code !== undefined && problem.code in CATALOG ? (problem.code as ErrorCode) : 'INTERNAL';
  return new RemoteError(code, problem.detail ?? `${who} answered ${status}`, hints[code] ?? problem.hint);
}
