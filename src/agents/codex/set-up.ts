import { join } from 'node:path';
import type { AgentVariables, SetUp } from '../contract.js';

/** Seen with codex 0.171: `login status` would write its databases, and a profile without a file is passed over in silence. */
export const codexSetUp: SetUp = {
  login: {
    variables: ['CODEX_API_KEY'],
    files: (env) => [join(home(env), 'auth.json')],
    command: 'codex login',
  },
  needs({ profile }, env) {
    if (profile === undefined) return [];
    const name = profile.replace(/[^\w-]/g, '\\$&');
    return [
      {
        name: `profile ${profile}`,
        path: join(home(env), `${profile}.config.toml`),
        notIn: {
          path: join(home(env), 'config.toml'),
          looks: new RegExp(`^\\s*\\[\\s*profiles\\s*\\.\\s*(["']?)${name}\\1\\s*[\\].]`, 'm'),
        },
      },
    ];
  },
};

function home(env: AgentVariables): string {
  const own = env['CODEX_HOME'];
  return own === undefined || own === '' ? join(env['HOME'] ?? '/', '.codex') : own;
}
