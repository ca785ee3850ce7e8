import { closeSync, writeSync } from 'node:fs';
import { run } from './agentd.js';
import { openDaemonLog } from './daemon-log.js';

const READY_FD = 3;
const [base = '', ...args] = process.argv.slice(2);

// The gateway as `agentctl daemon start` begins it: who started it reads one line on fd 3, then nobody listens.
await run(args, {
  openLog: (limits) => openDaemonLog(base, limits),
  tell(message) {
    try {
      writeSync(READY_FD, `${JSON.stringify(message)}\n`);
      closeSync(READY_FD);
    } catch {
      // Whoever started it is gone; it goes on without.
    }
  },
});
