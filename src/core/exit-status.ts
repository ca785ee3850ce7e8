/** As shells number them; the ones that end agents. */
const SIGNALS: Readonly<Record<number, string>> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  6: 'SIGABRT',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  13: 'SIGPIPE',
  15: 'SIGTERM',
};

export function isSignal(status: number | null): boolean {
  return status !== null && SIGNALS[status - 128] !== undefined;
}

/** How a process ended, for people. `status`: its exit status, 128 + signal; null where it could not be learned. */
export function exitWords(status: number | null): string {
  const signal = status === null ? undefined : SIGNALS[status - 128];
  if (signal !== undefined) return `its process was ended by ${signal}`;
  return `its process ended with status ${status ?? 'unknown'}`;
}
