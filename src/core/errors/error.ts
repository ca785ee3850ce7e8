import { CATALOG, type CatalogEntry, type ErrorCode, type ErrorParams } from './catalog.js';
import { CATEGORIES, type Category } from './categories.js';

/**
 * The one error class. Everything a user or an agent can cause or fix is thrown as this, with a code of the
 * catalogue; message, hint and category are looked up there. Doors render it; nothing else does.
 */
export class OrchestratorError extends Error {
  override readonly name = 'OrchestratorError';
  readonly code: ErrorCode;
  readonly params: ErrorParams;

  constructor(code: ErrorCode, params: ErrorParams = {}, options?: { cause?: unknown }) {
    super(CATALOG[code].message(params), options);
    this.code = code;
    this.params = params;
  }

  private get entry(): CatalogEntry {
    return CATALOG[this.code];
  }

  get category(): Category {
    return this.entry.category;
  }

  get hint(): string | undefined {
    return this.entry.hint?.(this.params);
  }

  get httpStatus(): number {
    return this.entry.http ?? CATEGORIES[this.category].http;
  }

  get exitCode(): number {
    return CATEGORIES[this.category].exit;
  }

  get retryable(): boolean {
    return CATEGORIES[this.category].retryable;
  }
}

/** Anything thrown, as an OrchestratorError; what is not one becomes INTERNAL with the original as cause. */
export function toOrchestratorError(thrown: unknown): OrchestratorError {
  if (thrown instanceof OrchestratorError) return thrown;
  const detail = thrown instanceof Error ? thrown.message : String(thrown);
  return new OrchestratorError('INTERNAL', { detail }, { cause: thrown });
}

/** The object that `--json`, MCP's structured content and the store carry. */
export function errorBody(error: OrchestratorError): {
  code: ErrorCode;
  message: string;
  hint?: string;
  retryable: boolean;
  params: ErrorParams;
} {
  const hint = error.hint;
  return {
    code: error.code,
    message: error.message,
    ...(hint === undefined ? {} : { hint }),
    retryable: error.retryable,
    params: error.params,
  };
}
