import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { processesWithVariable } from '../../../src/platform/process-tree.js';
import { createSandbox } from '../../support/sandbox.js';

it('a process is found by its environment also while it becomes another program, again and again', async () => {
  const sandbox = createSandbox();
  onTestFinished(() => sandbox.close());
  const path = join(sandbox.root, 'again.sh');
  writeFileSync(path, '#!/bin/sh\nexec "$0"\n', { mode: 0o755 });
  const child = spawn(path, { env: { ...process.env, AO_MARK: 'here' }, stdio: 'ignore' });
  sandbox.onClose(async () => {
    child.kill('SIGKILL');
    await once(child, 'exit');
  });
  // Of so many single looks some would meet it in between.
  for (let look = 0; look < 40; look += 1)
    expect((await processesWithVariable('AO_MARK', 'here')).map(({ pid }) => pid)).toEqual([child.pid]);
});
