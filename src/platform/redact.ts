const PATTERNS: readonly RegExp[] = [
  /\bao\.(?:lead|client|admin|worker\.w\d+|run\.[0-9a-f-]{36})\.[A-Za-z0-9_-]{43}/g,
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

/** One redactor for every sink (log, read_worker_output, API answers). Known secrets of this process are added by value. */
export function createRedactor(): { redact(text: string): string; add(secret: string): void } {
  const known = new Set<string>();
  return {
    add(secret) {
      if (secret.length >= 8) known.add(secret);
    },
    redact(text) {
      let result = text;
      for (const secret of known) result = result.replaceAll(secret, '[redacted]');
      for (const pattern of PATTERNS)
        result = result.replace(pattern, (match, lead: unknown) =>
          match.startsWith('//') && typeof lead === 'string' ? `${lead}[redacted]@` : '[redacted]',
        );
      return result;
    },
  };
}

export type Redactor = ReturnType<typeof createRedactor>;
