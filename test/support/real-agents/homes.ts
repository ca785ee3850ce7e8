import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A person's own provider, which is our model. */
export function writeCodexHome(home: string, url: string, more: string): void {
  mkdirSync(join(home, '.codex'));
  writeFileSync(
    join(home, '.codex/config.toml'),
    `model = "mock-model"
model_provider = "mock"
[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
env_key = "MOCK_API_KEY"
wire_api = "responses"
${more}`,
  );
}

/** What a person who has used it before has in their home. */
export function writeClaudeHome(
  home: string,
  known: {
    projects: readonly string[];
    keys: readonly string[];
    settings: Readonly<Record<string, unknown>>;
    servers: Readonly<Record<string, unknown>>;
  },
): void {
  mkdirSync(join(home, '.claude'));
  writeFileSync(join(home, '.claude/settings.json'), JSON.stringify(known.settings));
  const projects = known.projects.map((path) => [path, { hasTrustDialogAccepted: true }] as const);
  writeFileSync(
    join(home, '.claude.json'),
    JSON.stringify({
      hasCompletedOnboarding: true,
      theme: 'dark',
      customApiKeyResponses: { approved: known.keys, rejected: [] },
      projects: Object.fromEntries(projects),
      mcpServers: known.servers,
    }),
  );
}
