import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';

export interface TokenIdentity {
  readonly scope: 'lead' | 'worker' | 'client' | 'admin';
  readonly workerId: string | null;
}

/** A token that acts for one run of an agent; which session's secret proves it follows from the run. */
export function runOfToken(token: string): string | null {
  return /^ao\.run\.([0-9a-f-]{36})\.[A-Za-z0-9_-]{43}$/.exec(token)?.[1] ?? null;
}

export interface Tokens {
  issue(identity: TokenIdentity): string;
  issueForRun(runId: string): string;
  /** Whether this secret issued it for that run. Compares in constant time. */
  isForRun(token: string, runId: string): boolean;
  /** null for anything that this secret did not issue. Compares in constant time. */
  identify(token: string): TokenIdentity | null;
  /** Another secret from now on. */
  renew(secret: string): void;
}

export function newSecret(): string {
  return randomBytes(32).toString('base64url');
}

/**
 * Bearer tokens that name their holder and prove it with a 256-bit MAC of one secret per session. Nothing else is
 * stored, so the same tokens hold after a restart of the supervisor.
 */
export function createTokens(initial: string, sessionId: string): Tokens {
  let secret = initial;
  const mac = (text: string) =>
    createHmac('sha256', secret).update(`${sessionId}:${text}`).digest('base64url');
  const forRun = (runId: string) => `ao.run.${runId}.${mac(`run.${runId}`)}`;
  return {
    issueForRun: forRun,
    isForRun: (token, runId) => createBearerCheck([forRun(runId)])(token),
    issue({ scope, workerId }) {
      const name = scope === 'worker' ? `worker.${workerId}` : scope;
      return `ao.${name}.${mac(name)}`;
    },
    identify(token) {
      const match = /^ao\.((lead|client|admin)|worker\.(w\d{2,}))\.([A-Za-z0-9_-]{43})$/.exec(token);
      const [, name = '', scope, workerId, given = ''] = match ?? [];
      const expected = mac(name);
      if (match === null || !timingSafeEqual(Buffer.from(given), Buffer.from(expected))) return null;
      if (workerId !== undefined) return { scope: 'worker', workerId };
      return { scope: scope as 'lead' | 'client' | 'admin', workerId: scope === 'lead' ? 'lead' : null };
    },
    renew: (next) => void (secret = next),
  };
}

/** Whether a bearer token is one of these. Compares in constant time, and with all of them. */
export function createBearerCheck(tokens: readonly string[]): (given: string) => boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const known = tokens.map(digest);
  return (given) => {
    const asked = digest(given);
    return known.filter((one) => timingSafeEqual(one, asked)).length > 0;
  };
}
