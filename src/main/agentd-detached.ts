import { run } from './agentd.js';
import { openDaemonLog } from './daemon-log.js';
import { tellStarter } from './start-message.js';

const [base = '', ...args] = process.argv.slice(2);

// The gateway as `agentctl daemon start` begins it.
await run(args, { openLog: (limits) => openDaemonLog(base, limits), tell: tellStarter });
