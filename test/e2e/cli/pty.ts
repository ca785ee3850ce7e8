import { execFileSync } from 'node:child_process';
import { killServer } from '../../../src/backends/tmux/attach.js';
import { until } from '../../support/tmux.js';
import type { CliRig } from './rig.js';

const LIMIT_MS = 90_000;

export interface Pty {
  screen(): string;
  shows(pattern: RegExp): Promise<RegExpExecArray>;
  /** Keys as tmux names them; a text is typed as it is. */
  keys(...names: string[]): void;
  type(text: string): void;
  /** The exit code, once the program has ended. */
  ended(): Promise<number>;
  /** Hangs up. */
  close(): Promise<void>;
}

/** The command line on a real terminal: a pane of a tmux server of the test's own. */
export function openPty(
  rig: Pick<CliRig, 'env' | 'repo' | 'launcher' | 'world'>,
  args: readonly string[],
  options: {
    insideTmux?: boolean;
    env?: Record<string, string>;
    /** PATH of the program alone. */
    path?: string;
    columns?: number;
    rows?: number;
  } = {},
): Pty {
  const name = `pty-${Math.random().toString(36).slice(2, 8)}`;
  const tmux = (...command: string[]) =>
    execFileSync('tmux', ['-u', '-f', '/dev/null', '-L', name, ...command], {
      env: { ...rig.env, ...options.env },
      encoding: 'utf8',
      timeout: 20_000,
    });
  const unset = options.insideTmux === true ? '' : 'unset TMUX TMUX_PANE; ';
  // What it printed stays to be looked at, its code behind it; Ctrl-C is for the program alone.
  const path = options.path === undefined ? '' : `PATH='${options.path}' `;
  const wrapper = `trap : INT; ${unset}${path}"$@"; code=$?; echo; echo "[ended with $code]"; exec sleep 600`;
  const command = ['sh', '-c', wrapper, 'sh', process.execPath, rig.launcher, ...args];
  const size = ['-x', String(options.columns ?? 110), '-y', String(options.rows ?? 36)];
  tmux('new-session', '-d', ...size, '-c', rig.repo.path, ...command);
  const close = async () => void (await killServer({ socketName: name, env: rig.env }));
  rig.world.sandbox.onClose(close);
  const screen = () => tmux('capture-pane', '-p', '-J').replace(/\s+$/, '');
  const shows = async (pattern: RegExp) => {
    try {
      await until(() => pattern.test(screen()), `a screen with ${pattern}`, LIMIT_MS);
    } catch (error) {
      throw new Error(`the screen is:\n${screen()}`, { cause: error });
    }
    return pattern.exec(screen()) ?? ([''] as unknown as RegExpExecArray);
  };
  return {
    screen,
    shows,
    close,
    keys: (...names) => void tmux('send-keys', ...names),
    type: (text) => void tmux('send-keys', '-l', '--', text),
    ended: async () => Number((await shows(/\[ended with (\d+)\]/))[1]),
  };
}
