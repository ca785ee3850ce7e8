import { cpSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inject } from 'vitest';
import type { SessionPlanInput } from '../../../src/services/supervise/plan.js';
import { MockLlm } from '../mock-llm/server.js';
import type { Rule } from '../mock-llm/reply.js';
import { compiledRoot } from '../compiled.js';
import type { GitWorld, TestRepo } from '../repo.js';
import { SILENT_LEAD, SessionRig, type McpCaller } from '../session-rig.js';
import { writeClaudeHome, writeCodexHome } from './homes.js';

const KEY = 'sk-dummy';

export interface RealWorldOptions {
  readonly rules?: readonly Rule[];
  /** Has the person used the agent in this project before? Default true. */
  readonly trusted?: boolean;
  readonly keyApproved?: boolean;
  readonly env?: Readonly<Record<string, string>>;
  /** The person's own `~/.claude/settings.json`. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** What the person has in `~/.codex/config.toml` besides their provider. */
  readonly codexSettings?: (home: string) => string;
  /** The person's own MCP servers, for every project. */
  readonly servers?: Readonly<Record<string, unknown>>;
  /** Works on a copy of the demo's project, which has tests of its own, instead of two lines of text. */
  readonly sampleProject?: boolean;
}

/** A session of real agents against our model: no login, no network, a home of its own. */
export class RealRig extends SessionRig {
  readonly llm: MockLlm;
  /** Where the real agents are, by name. */
  readonly binaries: Readonly<Record<string, string>>;

  static async create(options: RealWorldOptions = {}): Promise<RealRig> {
    const llm = await MockLlm.start(...(options.rules ?? []));
    return new RealRig(llm, options);
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
    this.binaries = inject('realAgents');
    writeCodexHome(this.world.sandbox.home, llm.url, options.codexSettings?.(this.world.sandbox.home) ?? '');
    writeClaudeHome(this.world.sandbox.home, {
      projects: options.trusted === false ? [] : [this.repo.path],
      keys: options.keyApproved === false ? [] : [KEY],
      settings: options.settings ?? {},
      servers: options.servers ?? {},
    });
    // Its own temporary files are its own to leave, also what it leaves in its last moment.
    this.world.sandbox.onClose(async () => {
      await this.world.sandbox.left();
      removeOwnFiles(this.world.sandbox.temp);
    });
  }

  /** For a crew of a scripted lead that stays in its turn, so that the test acts for it, and real workers. */
  async silentLead(): Promise<Partial<SessionPlanInput>> {
    const script = join(this.world.sandbox.root, 'script.yaml');
    const scripted = join(await compiledRoot(), 'bin/agentorchestr-scripted.cjs');
    return {
      lead_agent: 'scripted',
      binaries: { ...this.binaries, scripted },
      agent_options: { scripted: { script } },
    };
  }

  /** A JSON file of the person's, below `~/.claude`. */
  home(name: string): unknown {
    return JSON.parse(readFileSync(join(this.world.sandbox.home, '.claude', name), 'utf8'));
  }

  /** `agent` leads, and is what its workers are. */
  startWith(
    agent: string,
    plan: Partial<SessionPlanInput> = {},
  ): Promise<{ session_id: string; base: string }> {
    return this.start(SILENT_LEAD, {
      lead_agent: agent,
      worker_agents: [agent],
      binaries: this.binaries,
      agent_options: {},
      ...plan,
    });
  }

  /** Workers of `agent`, and a lead that stays silent; the caller acts for it. */
  async startWorkersOf(agent: string, plan: Partial<SessionPlanInput> = {}): Promise<McpCaller> {
    await this.startWith(agent, { ...(await this.silentLead()), worker_agents: [agent], ...plan });
    return this.lead();
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

function sampleProject(world: GitWorld): TestRepo {
  const repo = world.repo('sample', { empty: true });
  cpSync(fileURLToPath(new URL('../../../templates/demo/project', import.meta.url)), repo.path, {
    recursive: true,
  });
  repo.commit('the sample project');
  return repo;
}

function removeOwnFiles(temp: string): void {
  for (const name of readdirSync(temp).filter((entry) => /^(claude|cc-socks|codex-)/.test(entry)))
    rmSync(join(temp, name), { recursive: true, force: true });
}

/** The text as it was pasted, without the wrapper that large pastes get. */
export function unwrapped(prompt: string): string {
  return (
    /^\s*<pasted_content id="([^"]*)">\n([^]*)\n<\/pasted_content id="\1">\n?$/.exec(prompt)?.[2] ?? prompt
  );
}
