import { list, type CatalogEntry } from './entry.js';

/** Whoever asks may not. */
export const DENIED_ERRORS = {
  UNAUTHENTICATED: {
    category: 'denied',
    http: 401,
    message: () => 'a valid bearer token is required',
    hint: () =>
      "a session's token is in its control file, a daemon's in the file that its first line names (0600): both are read by our own commands",
  },
  FORBIDDEN: {
    category: 'denied',
    message: (p) => `this token (${p['scope']}) may not call ${p['operation']}`,
    hint: (p) => `allowed: ${list(p['allowed'])}`,
  },
  FORBIDDEN_ORIGIN: {
    category: 'denied',
    message: (p) => `requests with ${p['header']} "${p['value']}" are refused`,
    hint: () =>
      "only this machine's own programs may call this port; agentd started with --allow-host NAME is called by that name too",
  },
  PROJECT_NOT_TRUSTED: {
    category: 'denied',
    message: (p) => `${p['project']} is not a trusted project yet`,
    hint: () => 'agents run there on their own: run once on a terminal and answer yes, or pass --yes',
  },
  COMMANDS_NOT_CONSENTED: {
    category: 'denied',
    message: (p) => `commands from the project's files need your consent: ${list(p['commands'])}`,
    hint: () => 'run once on a terminal and answer yes, or pass --yes',
  },
  LEAD_MAY_NOT_ANSWER: {
    category: 'denied',
    message: (p) => `${p['operation']} is for the person: the lead was not allowed to answer for them`,
    hint: () =>
      'leave it to the person, who is told; a session started with --lead-may-answer lets the lead do it',
  },
  UNSAFE_DIRECTORY: {
    category: 'denied',
    message: (p) => `${p['path']} is not safe to use: ${p['problem']}`,
    hint: () => 'remove it, or set TMPDIR to a private folder',
  },
  FOLDER_NOT_ALLOWED: {
    category: 'denied',
    message: (p) => `agents may not work in ${p['path']}`,
    hint: (p) => `allowed are: ${list(p['allowed'])}; start agentd with --allow-root for others`,
  },
  TOKEN_REQUIRED: {
    category: 'denied',
    message: (p) => `${p['host']} can be reached from other machines, and no token was given`,
    hint: () => 'give one with --auth-token or AGENTD_AUTH_TOKEN, or listen on 127.0.0.1',
  },
  ANSWER_FOR_PEOPLE: {
    category: 'denied',
    message: (p) => `session ${p['session']} waits for a permission that only a person can give`,
    hint: () => 'leave it to the person; the request stands in the events of the parent session',
  },
} as const satisfies Record<string, CatalogEntry>;
