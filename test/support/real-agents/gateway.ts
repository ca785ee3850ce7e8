import { mkdirSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { inject } from 'vitest';
import { AGENTS } from '../../../src/agents/registry.js';
import { GatewayRig } from '../gateway-rig.js';
import type { Rule } from '../mock-llm/reply.js';
import { MockLlm } from '../mock-llm/server.js';
import { ALLOWED } from './crew.js';
import { writeClaudeHome, writeCodexHome } from './homes.js';

const KEY = 'sk-dummy';

/** A gateway whose sessions are real agents against our model: no login, no network, a home of its own. */
export class RealGateway extends GatewayRig {
  readonly llm: MockLlm;

  static async begin(
    agent: string,
    rules: readonly Rule[],
    flags: readonly string[] = [],
  ): Promise<RealGateway> {
    const rig = new RealGateway(await MockLlm.start(...rules));
    mkdirSync(rig.work);
    writeCodexHome(rig.folder, rig.llm.url, '');
    const person = { projects: [rig.work], keys: [KEY], settings: ALLOWED, servers: {} };
    writeClaudeHome(rig.folder, person);
    await rig.start(['--default-provider', agent, ...flags]);
    return rig;
  }

  private constructor(llm: MockLlm) {
    const path = [...Object.values(inject('realAgents')).map(dirname), process.env['PATH']].join(delimiter);
    super({
      agents: AGENTS,
      env: {
        ...{ PATH: path, ANTHROPIC_BASE_URL: llm.url, ANTHROPIC_API_KEY: KEY, MOCK_API_KEY: KEY },
        CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      },
    });
    this.llm = llm;
  }

  /** The scripted agent is one of many here, and plays nothing. */
  override agent(): string[] {
    return [];
  }

  override async close(): Promise<void> {
    try {
      await super.close();
    } finally {
      await this.llm.close();
    }
  }
}
