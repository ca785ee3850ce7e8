// A process that appends events, paced, to the product's store or (`rival`) to a database as SQLite makes it by
// default, and answers with how long each append took. Told what to do over IPC.
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Database from 'better-sqlite3';

const [root, folder] = process.argv.slice(2);
const load = (module) => import(pathToFileURL(join(root, 'dist', `${module}.js`)).href);
const { openStore } = await load('store/open-store');
const { createRedactor } = await load('platform/redact');
const { systemClock } = await load('platform/clock');

const TEXT = 'x'.repeat(200);
const event = {
  type: 'text.completed',
  session_id: '00000000',
  worker_id: 'w01',
  run_id: '00000000-0000-7000-8000-000000000000',
  source: 'headless',
  evidence: 'protocol',
  data: { text: TEXT },
};

/** As a supervisor opens it. */
function ours() {
  const redact = createRedactor().redactKnown;
  const store = openStore({ path: join(folder, 'ours', 'state.db'), clock: systemClock, redact });
  return () => store.append(event);
}

/** The same columns with one index, a transaction each; nothing is checked. */
function rival() {
  const database = new Database(join(folder, 'rival.db'));
  const columns = Object.keys(event);
  database.exec(`CREATE TABLE events (seq INTEGER PRIMARY KEY, at TEXT, ${columns.join(' TEXT, ')} TEXT);
    CREATE INDEX events_of ON events (session_id, seq)`);
  const places = columns.map(() => '?').join(', ');
  const insert = database.prepare(`INSERT INTO events (at, ${columns.join(', ')}) VALUES (?, ${places})`);
  return () => {
    const { data, ...subject } = event;
    insert.run(new Date().toISOString(), ...Object.values(subject), JSON.stringify(data));
  };
}

const writers = { ours: ours(), rival: rival() };

/** Microseconds of each of `count` appends, as many a second as `perSecond` says. */
async function append({ who, count, perSecond }) {
  const write = writers[who];
  const times = [];
  const began = performance.now();
  while (times.length < count) {
    const due = Math.min(count, ((performance.now() - began) * perSecond) / 1_000);
    while (times.length < due) {
      const at = process.hrtime.bigint();
      write();
      times.push(Number(process.hrtime.bigint() - at) / 1_000);
    }
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  return times;
}

process.on('message', (input) => void append(input).then((times) => process.send(times)));
process.on('disconnect', () => process.exit(0));
process.send('ready');
