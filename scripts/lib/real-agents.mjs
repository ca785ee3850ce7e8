// Real agent CLIs for tests, pinned: the versions that screens, hooks and transcripts were recorded from.
import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);
const INSTALL_LIMIT_MS = 10 * 60_000;

const REAL_AGENTS = [
  { name: 'claude', package: '@anthropic-ai/claude-code', version: '2.1.332', bin: 'claude' },
  { name: 'codex', package: '@openai/codex', version: '0.171.0', bin: 'codex' },
];

/** Outside node_modules: hundreds of megabytes that nobody but the tests wants, kept between runs. */
function cacheFolder() {
  return join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'agentorchestr', 'real-agents');
}

/**
 * Installs what is missing. Returns {name: path of the binary}, and for what could not be installed {name: why}.
 * A folder is there whole or not at all.
 */
export async function installRealAgents(log = () => undefined) {
  const installed = {};
  const missing = {};
  for (const agent of REAL_AGENTS) {
    const folder = join(cacheFolder(), `${agent.name}-${agent.version}`);
    try {
      if (!existsSync(folder)) {
        log(`installing ${agent.package}@${agent.version} …`);
        await install(agent, folder);
      }
      const binary = join(folder, 'node_modules', '.bin', agent.bin);
      const { stdout } = await run(binary, ['--version'], { timeout: 60_000 });
      if (!stdout.includes(agent.version)) throw new Error(`it says it is version ${stdout.trim()}`);
      installed[agent.name] = binary;
    } catch (error) {
      missing[agent.name] = String(error?.message ?? error).split('\n')[0];
    }
  }
  return { installed, missing };
}

async function install(agent, folder) {
  const making = `${folder}.${process.pid}`;
  mkdirSync(making, { recursive: true });
  try {
    writeFileSync(join(making, 'package.json'), '{"private":true}\n');
    // Exact: a range would take an older version whose engines fit this Node.
    const spec = `${agent.package}@${agent.version}`;
    const flags = ['--no-audit', '--no-fund', '--no-package-lock', '--prefix', making];
    await run('npm', ['install', ...flags, spec], { timeout: INSTALL_LIMIT_MS, cwd: making });
    renameSync(making, folder);
  } finally {
    rmSync(making, { recursive: true, force: true });
  }
}
