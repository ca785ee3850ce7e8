/**
 * Another process on the same database: node child.mjs PACKAGE_ROOT DATABASE. It says "ready", then does what each
 * message asks ({ action, …}) and sends back { result } or { error }. It ends when its parent disconnects.
 */
import fs, { writeSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

let syncs = 0;
const { fdatasyncSync } = fs;
fs.fdatasyncSync = (file) => {
  syncs += 1;
  fdatasyncSync(file);
};
syncBuiltinESMExports();

const [root, path] = process.argv.slice(2);
const load = (module) => import(`${root}/dist/${module}.js`);
const { openStore } = await load('store/open-store');
const { systemClock } = await load('platform/clock');
const { ownIdentity } = await load('platform/identity');

let store;
const open = () => (store ??= openStore({ path, clock: systemClock }));

const progress = (sessionId, message) => ({
  type: 'progress.reported',
  session_id: sessionId,
  source: 'cli',
  evidence: 'protocol',
  data: { message },
});

const actions = {
  open: () => open().head(),
  openForReading: () => openStore({ path, clock: systemClock, readOnly: true }).head(),
  /** How often each transaction of these brought the log to the disk. */
  countSyncs: ({ transactions }) =>
    transactions.map((events) => {
      const before = syncs;
      open().transaction((tx) => tx.append(...events));
      return syncs - before;
    }),
  openFiles: ({ paths }) => {
    for (const file of paths) openStore({ path: file, clock: systemClock }).close();
  },
  /** Opens when it has not, and appends one transaction after the other. */
  append: ({ sessionId, count, tag }) => {
    const numbers = [];
    for (let index = 0; index < count; index += 1)
      numbers.push(open().append(progress(sessionId, `${tag}-${index}`))[0].seq);
    return numbers;
  },
  /** Appends until it is killed; every number printed was acknowledged. */
  appendForEver: ({ sessionId }) => {
    for (;;) writeSync(1, `${open().append(progress(sessionId, 'on and on'))[0].seq}\n`);
  },
  /** Ends each run unless it has ended; says which it ended itself. */
  settle: ({ runIds, event }) =>
    runIds.filter((runId) =>
      open().transaction((tx) => {
        if (tx.run(runId).ended_at !== null) return false;
        tx.append({ ...event, run_id: runId });
        return true;
      }),
    ),
  acquire: ({ sessionIds }) =>
    sessionIds.filter((sessionId) => open().acquireLease(sessionId, ownIdentity()).acquired),
  holdWriteLock: async () => {
    const { default: Database } = await import('better-sqlite3');
    const connection = new Database(path);
    connection.exec('BEGIN IMMEDIATE');
    actions.letGo = () => connection.close();
  },
};

async function answer({ action, ...input }) {
  try {
    process.send({ result: (await actions[action](input)) ?? null });
  } catch (error) {
    process.send({ error: { code: error.code, message: error.message, hint: error.hint } });
  }
}

process.on('message', (request) => void answer(request));
process.send({ result: 'ready' });
