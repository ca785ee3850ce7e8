type Environment = Readonly<Record<string, string | undefined>>;

/** What of the user's environment is not passed on. */
export interface EnvironmentRules {
  /** Variables that would make an agent refuse to start inside another one. */
  readonly guardVariables: readonly string[];
  /** Variables with these prefixes hold our own secrets and switches. */
  readonly ownPrefixes: readonly string[];
}

/** What a command of the user's own inherits. */
export function userEnvironment(
  env: Environment,
  { guardVariables, ownPrefixes }: EnvironmentRules,
): Record<string, string> {
  const isPassedOn = (name: string) =>
    !guardVariables.includes(name) && !ownPrefixes.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(
    Object.entries(env).filter(
      (entry): entry is [string, string] => entry[1] !== undefined && isPassedOn(entry[0]),
    ),
  );
}

/** What agents inherit: the same, without the terminal it came from. */
export function agentEnvironment(env: Environment, rules: EnvironmentRules): Record<string, string> {
  return userEnvironment(env, { ...rules, guardVariables: [...rules.guardVariables, 'TMUX', 'TMUX_PANE'] });
}
