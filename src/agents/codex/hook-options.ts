import type { LaunchContext } from '../contract.js';
import { hookCommand } from '../hook-kit.js';
import { option } from './options.js';

/** Its names of the events, as they are set and as they are trusted; how long a hook may take, s. */
const HOOKS = [
  { event: 'SessionStart', key: 'session_start', timeoutS: 30 },
  { event: 'UserPromptSubmit', key: 'user_prompt_submit', timeoutS: 30 },
  // A permission waits for as long as a person takes to answer.
  { event: 'PermissionRequest', key: 'permission_request', timeoutS: 86_400 },
  { event: 'Stop', key: 'stop', timeoutS: 30 },
] as const;

/**
 * Our hooks beside the user's own, for this run only, each trusted by its hash as its own review would note it. The
 * flag that skips that review would let hooks of the repository run, outside the sandbox, that nobody has looked at.
 */
export function hookOptions(context: LaunchContext): readonly string[] {
  const command = hookCommand(context, { answers: true });
  const hooks = HOOKS.map(
    ({ event, timeoutS }) =>
      `${event}=[{hooks=[{type="command",command=${JSON.stringify(command)},timeout=${timeoutS}}]}]`,
  );
  const states = HOOKS.map(
    ({ key, timeoutS }) =>
      `"/<session-flags>/config.toml:${key}:0:0"={trusted_hash="sha256:${context.hashOf(trusted(key, command, timeoutS))}"}`,
  );
  return option('hooks', `{${[...hooks, `state={${states.join(',')}}`].join(',')}}`);
}

/** What its hash is over: the hook with all its defaults, keys sorted; seen on 0.171.0. */
function trusted(key: string, command: string, timeoutS: number): unknown {
  return { event_name: key, hooks: [{ async: false, command, timeout: timeoutS, type: 'command' }] };
}
