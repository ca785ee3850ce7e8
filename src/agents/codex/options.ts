import type { LaunchContext } from '../contract.js';

const SERVER = 'agentorchestr';

/** In a pane as without a terminal. */
export const codexResumeErrors = {
  unknown: /no rollout found for thread id|No saved session found/i,
  inUse: /already has an active writer/i,
};

/** `value` is TOML. */
export function option(name: string, value: string): readonly string[] {
  return ['-c', `${name}=${value}`];
}

/** Our server beside the user's own, for this run only; the token is read from the environment. */
export function mcpOptions({ mcpUrl, tokenVariable }: LaunchContext): readonly string[] {
  const settings = {
    url: mcpUrl,
    bearer_token_env_var: tokenVariable,
    // Its default ends a call after 300 s.
    tool_timeout_sec: 3_600,
    // Our own tools are no risk that a person would have to be asked about.
    default_tools_approval_mode: 'approve',
  };
  return Object.entries(settings).flatMap(([name, value]) =>
    option(`mcp_servers.${SERVER}.${name}`, JSON.stringify(value)),
  );
}

/** What the person wants before everything else. */
export function ownArguments(extra: LaunchContext['extra']): readonly string[] {
  const { profile, extra_args: lines } = extra;
  return [
    ...(profile === undefined ? [] : ['--profile', profile]),
    ...(lines === undefined ? [] : lines.split('\n')),
  ];
}
