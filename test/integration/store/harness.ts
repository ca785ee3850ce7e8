import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Clock } from '../../../src/core/clock.js';
import { systemClock } from '../../../src/platform/clock.js';
import type { Store } from '../../../src/store/contract.js';
import { openStore } from '../../../src/store/open-store.js';
import { compiledModules } from '../../support/compiled.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

export interface StoreWorld {
  readonly sandbox: Sandbox;
  readonly path: string;
  /** A store of this process on the file of this world; closed with it. */
  open(options?: { path?: string; clock?: Clock; readOnly?: boolean }): Store;
  /** Another process, which has not opened the file yet. */
  child(options?: ChildOptions): Promise<StoreChild>;
  close(): Promise<void>;
}

export interface ChildOptions {
  readonly uid?: number;
  /** No file may grow beyond this: writing fails as on a full disk. */
  readonly fileLimitKb?: number;
}

export interface StoreChild {
  readonly process: ChildProcess;
  ask<Result>(action: string, input?: Record<string, unknown>): Promise<Result>;
  end(signal?: NodeJS.Signals): Promise<void>;
}

class ChildError extends Error {
  readonly code: string | undefined;
  readonly hint: string | undefined;

  constructor(error: { code?: string; message: string; hint?: string }) {
    super(error.message);
    this.code = error.code;
    this.hint = error.hint;
  }
}

export function createStoreWorld(): StoreWorld {
  const sandbox = createSandbox();
  const path = join(sandbox.root, 'data', 'state.db');
  const stores: Store[] = [];
  const children: StoreChild[] = [];
  return {
    sandbox,
    path,
    open(options = {}) {
      const store = openStore({ path, clock: systemClock, ...options });
      stores.push(store);
      return store;
    },
    async child(options = {}) {
      const child = await startChild({ path, env: sandbox.env, ...options });
      children.push(child);
      return child;
    },
    async close() {
      for (const store of stores) store.close();
      await Promise.all(children.map((child) => child.end()));
      await sandbox.close();
    },
  };
}

async function startChild(
  options: ChildOptions & { path: string; env: NodeJS.ProcessEnv },
): Promise<StoreChild> {
  const { path, env, uid, fileLimitKb } = options;
  const script = fileURLToPath(new URL('child.mjs', import.meta.url));
  const argv = [process.execPath, script, await compiledModules(), path];
  // With the signal ignored, a write past the limit fails instead of ending the process.
  const limit = `trap '' XFSZ; ulimit -f ${fileLimitKb}; exec "$@"`;
  const [command = '', ...args] = fileLimitKb === undefined ? argv : ['bash', '-c', limit, 'bash', ...argv];
  const child = spawn(command, args, {
    env,
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    ...(uid === undefined ? {} : { uid, gid: uid }),
  });
  const answer = async <Result>(): Promise<Result> => {
    const settled = new AbortController();
    const ended = once(child, 'exit', settled).then(([code, signal]) => {
      throw new Error(`the child ended (${code ?? signal})`);
    });
    const answered = once(child, 'message', settled);
    const [message] = (await Promise.race([answered, ended]).finally(() => {
      for (const promise of [answered, ended]) promise.catch(() => undefined);
      settled.abort();
    })) as [{ result: Result } | { error: { code?: string; message: string; hint?: string } }];
    if ('error' in message) throw new ChildError(message.error);
    return message.result;
  };
  await answer();
  return {
    process: child,
    ask<Result>(action: string, input: Record<string, unknown> = {}) {
      const result = answer<Result>();
      child.send({ action, ...input });
      return result;
    },
    async end(signal) {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, 'exit');
      if (signal !== undefined) child.kill(signal);
      else if (child.connected) child.disconnect();
      await gone;
    },
  };
}
