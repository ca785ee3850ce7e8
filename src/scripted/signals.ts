/** Signals that end the agent, and the exit status that tells of each. */
export const SIGNALS = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** Ends this process by the signal itself, so that whoever waits for it sees that. Never resolves. */
export function endBySignal(signal: string): Promise<never> {
  for (const name of Object.keys(SIGNALS)) process.removeAllListeners(name);
  process.kill(process.pid, signal);
  return new Promise(() => undefined);
}
