/** Tokens of ours, wherever they stand: between colours, in a list of variables, in an address. */
const OWN_TOKEN = /ao\.(?:lead|client|admin|worker\.w\d+|run\.[0-9a-f-]{36})\.[A-Za-z0-9_-]{43}/g;

const PATTERNS: readonly RegExp[] = [
  /\b(sk|pk|rk)-[A-Za-z0-9_-]{16,}/g,
  /\bgh[pousr]_[A-Za-z0-9]{20,}/g,
  /\bgithub_pat_[A-Za-z0-9_]{20,}/g,
  /\bxox[abprs]-[A-Za-z0-9-]{10,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  /\bAIza[0-9A-Za-z_-]{30,}/g,
  /\bey[JK][A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}/g,
  /\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{16,}/gi,
  /(\/\/[^/\s:@]+:)[^@\s/]+@/g,
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----/g,
];

const REDACTED = '[redacted]';
const SHORTEST_KNOWN = 8;
/** A shorter value of a variable may well be a word. */
const SHORTEST_VALUE = 16;
const SECRET_NAME = /(^|_)(API_?KEY|ACCESS_?KEY|SECRET_?KEY|KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;

/** One redactor for every sink (log, events, read_worker_output, API answers). Known secrets of this process are added by value. */
export function createRedactor(): {
  /** Everything that is a secret, or looks like one. */
  redact(text: string): string;
  /** Only what is one for certain: for texts that people and agents work with. */
  redactKnown(text: string): string;
  add(...secrets: readonly string[]): void;
} {
  let known: readonly string[] = [];
  const redactKnown = (text: string) => {
    let result = text;
    for (const secret of known) result = result.replaceAll(secret, REDACTED);
    return result.replace(OWN_TOKEN, REDACTED);
  };
  return {
    add(...secrets) {
      const all = new Set([...known, ...secrets.filter(({ length }) => length >= SHORTEST_KNOWN)]);
      // A secret may be part of another one.
      known = [...all].sort((a, b) => b.length - a.length);
    },
    redactKnown,
    redact(text) {
      let result = redactKnown(text);
      for (const pattern of PATTERNS)
        result = result.replace(pattern, (match, lead: unknown) =>
          match.startsWith('//') && typeof lead === 'string' ? `${lead}${REDACTED}@` : REDACTED,
        );
      return result;
    },
  };
}

export type Redactor = ReturnType<typeof createRedactor>;

/** What the environment calls a key, a token or a password; a path to one is none. */
export function secretsOf(env: Readonly<Record<string, string | undefined>>): string[] {
  return Object.entries(env).flatMap(([name, value = '']) =>
    SECRET_NAME.test(name) && value.length >= SHORTEST_VALUE && !/^[/~.]|\s/.test(value) ? [value] : [],
  );
}

/** Nobody reads what is nested deeper; agents may print it, and it would use up the stack. */
const MOST_LEVELS = 200;
const TOO_DEEP = '(nested too deep, left out)';

/**
 * The same value with every text in it, names of fields included, as `change` makes it. What is nested deeper than 200
 * levels is left out.
 */
export function withTexts(value: unknown, change: (text: string) => string, levels = MOST_LEVELS): unknown {
  if (typeof value === 'string') return change(value);
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return TOO_DEEP;
  if (Array.isArray(value)) return value.map((one) => withTexts(one, change, levels - 1));
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [change(name), withTexts(one, change, levels - 1)]),
  );
}
