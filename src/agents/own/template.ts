import { nearest } from '../../core/nearest.js';
import type { LaunchContext } from '../contract.js';

const VALUES = {
  binary: (context: LaunchContext) => context.binary,
  role: (context: LaunchContext) => context.role,
  directory: (context: LaunchContext) => context.directory,
  worktree: (context: LaunchContext) => context.worktree,
  mcp_url: (context: LaunchContext) => context.mcpUrl,
  token_variable: (context: LaunchContext) => context.tokenVariable,
} as const;

/** The value of an option, in its `args` alone. */
const OPTION_VALUE = 'value';
const PLACEHOLDER = /\{([a-z_]+)\}/g;

/** Puts what is known at the start into a template; braces around anything else stay. */
export function filled(template: string, context: LaunchContext, value = ''): string {
  return template.replace(PLACEHOLDER, (whole, name: string) => {
    if (name === OPTION_VALUE) return value;
    return name in VALUES ? VALUES[name as keyof typeof VALUES](context) : whole;
  });
}

/** A slip in a placeholder would reach the agent as it stands. null: there is none. */
export function unknownPlaceholder(template: string): string | null {
  const names = [...Object.keys(VALUES), OPTION_VALUE];
  for (const [whole, name = ''] of template.matchAll(PLACEHOLDER)) {
    if (names.includes(name)) continue;
    const meant = nearest(name, names);
    const known = names.map((other) => `{${other}}`).join(', ');
    return `unknown placeholder ${whole}: ${meant === null ? `there are ${known}` : `did you mean {${meant}}?`}`;
  }
  return null;
}
