import { list, type CatalogEntry } from './entry.js';

/** What was asked for is wrong. */
export const USAGE_ERRORS = {
  INVALID_INPUT: {
    category: 'usage',
    http: 422,
    message: (p) =>
      `${p['field'] === undefined ? 'the input' : `"${p['field']}"`} is not valid: ${p['problem']}`,
    hint: (p) => (p['hint'] === undefined ? 'correct the value and call again' : String(p['hint'])),
  },
  USAGE: {
    category: 'usage',
    message: (p) => String(p['problem']),
    hint: (p) => (p['hint'] === undefined ? 'see agentorchestr --help' : String(p['hint'])),
  },
  SETTINGS_INVALID: {
    category: 'usage',
    message: (p) => `${p['where']}: ${p['problem']}`,
    hint: (p) => String(p['hint'] ?? 'agentorchestr config list shows every key'),
  },
  NO_SUCH_CHOICE: {
    category: 'usage',
    message: (p) => `what worker ${p['worker']} waits with does not take ${p['given']}`,
    hint: (p) =>
      list(p['valid']) === '' ? 'it takes a text' : `it takes one of its choices: ${list(p['valid'])}`,
  },
  GOAL_MISSING: {
    category: 'usage',
    message: () => 'no goal given',
    hint: () =>
      'give one with --goal "…", --goal-file FILE, or --interactive on a terminal; to see how it works: agentorchestr demo, agentorchestr --help',
  },
  GOAL_TOO_LARGE: {
    category: 'usage',
    message: (p) => `the goal is ${p['bytes']} bytes; the limit is ${p['limit']}`,
    hint: () => 'put the long part into a file of the project and name that file in the goal',
  },
  NOT_A_TTY: {
    category: 'usage',
    message: (p) => `${p['what']} needs a terminal`,
    hint: (p) => String(p['hint'] ?? 'run it in a terminal'),
  },
  BODY_TOO_LARGE: {
    category: 'usage',
    http: 413,
    message: (p) => `the body is larger than ${p['limit']} bytes`,
    hint: () => 'send large text as a file and name its path',
  },
  MALFORMED_REQUEST: {
    category: 'usage',
    message: (p) => `the request cannot be read: ${p['problem']}`,
    hint: () => 'send HTTP/1.1 with a head of no more than 16 KiB',
  },
  INVALID_JSON: {
    category: 'usage',
    message: (p) => `the body is no JSON that is taken: ${p['problem']}`,
    hint: () => 'send one JSON object, or no body at all',
  },
  UNSUPPORTED_MEDIA_TYPE: {
    category: 'usage',
    http: 415,
    message: (p) => `a body of type "${p['type']}" is not accepted`,
    hint: () => 'send it with content-type: application/json',
  },
  INVALID_CURSOR: {
    category: 'usage',
    message: (p) => `"${p['cursor']}" is no cursor here`,
    hint: (p) => `take the cursor from an answer or an event; ${p['valid']}`,
  },
  METHOD_NOT_ALLOWED: {
    category: 'usage',
    http: 405,
    message: (p) => `${p['path']} does not take ${p['method']}`,
    hint: (p) => `it takes: ${list(p['allowed'])}`,
  },
} as const satisfies Record<string, CatalogEntry>;
