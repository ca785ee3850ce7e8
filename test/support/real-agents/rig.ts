import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import type { SessionPlanInput } from '../../../src/services/supervise/plan.js';
import { MockLlm } from '../mock-llm/server.js';
import type { Rule } from '../mock-llm/reply.js';
import { compiledRoot } from '../compiled.js';
import type { GitWorld, TestRepo } from '../repo.js';
import { SILENT_LEAD, SessionRig } from '../session-rig.js';

const KEY = 'sk-dummy';

export interface RealWorldOptions {
  readonly rules?: readonly Rule[];
  /** Has the person used the agent in this project before? Default true. */
  readonly trusted?: boolean;
  readonly keyApproved?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** The person's own `~/.claude/settings.json`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** The person's own MCP servers, for every project. */
  readonly servers?: Readonly<Record<string, unknown>>;
  /** Works on a copy of the demo's project, which has tests of its own, instead of two lines of text. */
  readonly sampleProject?: boolean;
}

/** A session of real Claude Code against our model: no login, no network, a home of its own. */
export class ClaudeRig extends SessionRig {
  readonly llm: MockLlm;
  readonly binary: string;
  readonly codex: string;

  static async create(options: RealWorldOptions = {}): Promise<ClaudeRig> {
    const llm = await MockLlm.start(...(options.rules ?? []));
    return new ClaudeRig(llm, options);
  }

  private constructor(llm: MockLlm, options: RealWorldOptions) {
    super({
      env: {
        ANTHROPIC_BASE_URL: llm.url,
        ANTHROPIC_API_KEY: KEY,
        MOCK_API_KEY: KEY,
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
        ...options.env,
      },
      ...(options.sampleProject === true ? { repo: sampleProject } : {}),
    });
    this.llm = llm;
    this.binary = inject('realAgents')['claude'] ?? '';
    this.codex = inject('realAgents')['codex'] ?? '';
    writeCodexHome(this.world.sandbox.home, llm.url);
    writeClaudeHome(this.world.sandbox.home, {
      projects: options.trusted === false ? [] : [this.repo.path],
      keys: options.keyApproved === false ? [] : [KEY],
      settings: options.settings ?? {},
      servers: options.servers ?? {},
    });
    // Its own temporary files are its own to leave.
    this.world.sandbox.onClose(() => removeClaudeFiles(this.world.sandbox.temp));
  }

  /** For a crew of a scripted lead that stays in its turn, so that the test acts for it, and real workers. */
  async silentLead(): Promise<Partial<SessionPlanInput>> {
    const script = join(this.world.sandbox.root, 'script.yaml');
    const scripted = join(await compiledRoot(), 'bin/agentorchestr-scripted.cjs');
    return {
      lead_agent: 'scripted',
      binaries: { claude: this.binary, scripted },
      agent_options: { scripted: { script } },
    };
  }

  /** A JSON file of the person's, below `~/.claude`. */
  home(name: string): unknown {
    return JSON.parse(readFileSync(join(this.world.sandbox.home, '.claude', name), 'utf8'));
  }

  startClaude(plan: Partial<SessionPlanInput> = {}): Promise<{ session_id: string; base: string }> {
    return this.start(SILENT_LEAD, {
      lead_agent: 'claude',
      worker_agents: ['claude'],
      binaries: { claude: this.binary },
      agent_options: {},
      ...plan,
    });
  }

  override async close(): Promise<void> {
    if (process.env['AO_TEST_SHOW_LOG'] !== undefined)
      for (const { path, exchange, rule } of this.llm.requests)
        process.stderr.write(
          `${path} ${rule} step ${exchange?.step}: ${JSON.stringify(exchange?.prompt.slice(0, 200))}\n`,
        );
    try {
      await super.close();
    } finally {
      await this.llm.close();
    }
  }
}

/** A person's own provider, which is our model. */
function writeCodexHome(home: string, url: string): void {
  mkdirSync(join(home, '.codex'));
  writeFileSync(
    join(home, '.codex/config.toml'),
    `model = "mock-model"
model_provider = "mock"
check_for_update_on_startup = false
[model_providers.mock]
name = "mock"
base_url = "${url}/v1"
env_key = "MOCK_API_KEY"
wire_api = "responses"
`,
  );
}

/** What a person who has used it before has in their home. */
function writeClaudeHome(
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

function sampleProject(world: GitWorld): TestRepo {
  const repo = world.repo('sample', { empty: true });
  cpSync(fileURLToPath(new URL('../../../templates/demo/project', import.meta.url)), repo.path, {
    recursive: true,
  });
  repo.commit('the sample project');
  return repo;
}

function removeClaudeFiles(temp: string): void {
  for (const name of readdirSync(temp).filter((entry) => /^(claude|cc-socks|codex-)/.test(entry)))
    rmSync(join(temp, name), { recursive: true, force: true });
}

/** The text as it was pasted, without the wrapper that large pastes get. */
export function unwrapped(prompt: string): string {
  return (
    /^\s*<pasted_content id="([^"]*)">\n([^]*)\n<\/pasted_content id="\1">\n?$/.exec(prompt)?.[2] ?? prompt
  );
}
