import { join } from 'node:path';
import type { SetUp } from '../contract.js';

/** Its own `auth status` would write its settings. On macOS the login is in the keychain, which is not looked at. */
export const claudeSetUp: SetUp = {
  login: {
    variables: [
      'ANTHROPIC_API_KEY',
      'ANTHROPIC_AUTH_TOKEN',
      'CLAUDE_CODE_OAUTH_TOKEN',
      'CLAUDE_CODE_USE_BEDROCK',
      'CLAUDE_CODE_USE_VERTEX',
    ],
    files: (env) => [
      join(env['CLAUDE_CONFIG_DIR'] ?? join(env['HOME'] ?? '/', '.claude'), '.credentials.json'),
    ],
    command: 'claude auth login',
  },
};
