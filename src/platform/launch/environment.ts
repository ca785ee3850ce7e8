type Environment = Readonly<Record<string, string | undefined>>;

export interface EnvironmentRules {
  /** Variables that would make an agent refuse to start inside another one. */
  readonly guardVariables: readonly string[];
  /** Variables with these prefixes hold our own secrets and switches. */
  readonly ownPrefixes: readonly string[];
}

/** What agents inherit: the user's environment without ours, without the guards, and without the terminal it came from. */
export function agentEnvironment(env: Environment, rules: EnvironmentRules): Record<string, string> {
  const removed = new Set([...rules.guardVariables, 'TMUX', 'TMUX_PANE']);
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (
      value === undefined ||
      removed.has(name) ||
      rules.ownPrefixes.some((prefix) => name.startsWith(prefix))
    )
      continue;
    result[name] = value;
  }
  return result;
}
