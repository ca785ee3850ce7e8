/** What a failure means to each outside language. One row per category; no other file picks a status or exit code. */
export const CATEGORIES = {
  usage: { exit: 64, http: 400, openai: 'invalid_request_error', retryable: false },
  not_found: { exit: 1, http: 404, openai: 'invalid_request_error', retryable: false },
  conflict: { exit: 1, http: 409, openai: 'invalid_request_error', retryable: false },
  precondition: { exit: 1, http: 409, openai: 'invalid_request_error', retryable: false },
  denied: { exit: 4, http: 403, openai: 'permission_error', retryable: false },
  limit: { exit: 1, http: 429, openai: 'rate_limit_error', retryable: true },
  timeout: { exit: 2, http: 504, openai: 'server_error', retryable: true },
  agent: { exit: 2, http: 502, openai: 'server_error', retryable: false },
  unavailable: { exit: 3, http: 503, openai: 'server_error', retryable: true },
  internal: { exit: 1, http: 500, openai: 'server_error', retryable: false },
} as const;

export type Category = keyof typeof CATEGORIES;

/** The exit codes that are not failures of an operation (DESIGN §4). */
export const EXIT = {
  ok: 0,
  operation: 1,
  endedOtherwise: 2,
  fieldAbsent: 5,
  goesOn: 20,
  usage: 64,
  interrupted: 130,
} as const;
