import { join } from 'node:path';
import type { LaunchContext } from '../../src/agents/contract.js';
import { hashOf } from '../../src/platform/ids.js';
import { compiledRoot } from './compiled.js';

/** What a worker of the scripted agent is launched with, unless told otherwise; nothing listens at its addresses. */
export async function scriptedContext(
  given: Pick<LaunchContext, 'directory' | 'worktree' | 'extra'> & Partial<LaunchContext>,
): Promise<LaunchContext> {
  return {
    binary: join(await compiledRoot(), 'bin/agentorchestr-scripted.cjs'),
    role: 'worker',
    mcpUrl: 'http://127.0.0.1:9/mcp',
    hookUrl: 'http://127.0.0.1:9/hooks',
    tokenVariable: 'TOKEN',
    bypassPermissions: true,
    isRoot: false,
    hashOf,
    resumeThreadId: null,
    ...given,
  };
}
