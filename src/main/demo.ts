import { cp, mkdir, mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { killServer } from '../backends/tmux/attach.js';
import { OrchestratorError } from '../core/errors/error.js';
import type { CliHost, Demo, Terminal } from '../doors/cli/host.js';
import { makeSampleRepository } from '../git/sample-repository.js';
import { readTextFile, removeTree } from '../platform/files.js';
import { resolvePaths } from '../platform/paths.js';
import { readSession } from './cli-sessions.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** The same place seen from src/main and from dist/main. */
const TEMPLATES = fileURLToPath(new URL('../../templates/demo', import.meta.url));

/** Everything of the demo is below one temporary folder: our home, its own temp, the sample project. */
export async function prepareDemo(options: {
  env: Environment;
  terminal: Terminal;
  pace: number | null;
  createHost: (env: Environment) => CliHost;
}): Promise<Demo> {
  const goal = await readTextFile(join(TEMPLATES, 'goal.md'));
  if (goal === null)
    throw new OrchestratorError('FILE_NOT_READABLE', {
      path: TEMPLATES,
      problem: 'the demo is not part of this installation',
    });
  const folder = await mkdtemp(join(resolvePaths(options.env).temp, 'agentorchestr-demo-'));
  const [project, temp] = [join(folder, 'text-tools'), join(folder, 'tmp')];
  const env = {
    ...options.env,
    AGENTORCHESTR_HOME: join(folder, 'home'),
    TMPDIR: temp,
    // The sample's own commands need the node that runs us.
    PATH: `${dirname(process.execPath)}:${options.env['PATH'] ?? ''}`,
  };
  try {
    await mkdir(temp, { mode: 0o700 });
    await cp(join(TEMPLATES, 'project'), project, { recursive: true });
    await makeSampleRepository({ folder: project, message: 'Text tools', env });
  } catch (error) {
    await removeTree(folder);
    throw error;
  }
  return {
    host: options.createHost(env),
    folder,
    project,
    goal,
    agentOptions: [
      `scripted.script=${join(TEMPLATES, 'script.yaml')}`,
      ...(options.pace === null ? [] : [`scripted.pace=${options.pace}`]),
    ],
    async close({ sessionId, keep }) {
      if (keep) {
        options.terminal.err(
          `kept: ${folder}   (look with AGENTORCHESTR_HOME=${join(folder, 'home')} agentorchestr status)\n`,
        );
        return;
      }
      const socketName =
        sessionId === null
          ? null
          : await readSession(env, sessionId).then(
              (row) => row.tmux_socket,
              () => null,
            );
      if (socketName !== null) await killServer({ socketName, env });
      await removeTree(folder);
      options.terminal.err(`${folder} is removed again (--keep would leave it).\n`);
    },
  };
}
