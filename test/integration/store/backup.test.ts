import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { backupDatabase } from '../../../src/store/backup.js';
import { RUN, sampleEvent, sampleRun, SESSION } from '../../support/sample-events.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

let world: StoreWorld;
beforeEach(() => (world = createStoreWorld()));
afterEach(() => world.close());

const LIMIT = 1_000_000;

it(
  'a backup during writes opens, is equal to its log, and holds everything up to one moment',
  { timeout: 120_000 },
  async () => {
    const store = world.open();
    store.append(...sampleRun());
    for (let index = 0; index < 300; index++)
      store.append(sampleEvent('progress.reported', { message: 'x'.repeat(3_000) }));
    const writer = await world.child();
    let written = 0;
    writer.process.stdout!.on('data', (chunk) => (written += String(chunk).split('\n').length - 1));
    writer.ask('appendForEver', { sessionId: SESSION }).catch(() => undefined);
    await expect.poll(() => written, { timeout: 30_000 }).toBeGreaterThan(10);

    const folder = world.sandbox.folder('backups');
    const copies = [];
    for (const name of ['1.db', '2.db', '3.db']) {
      const before = store.head();
      const copy = await backupDatabase({ path: world.path, target: join(folder, name) });
      expect(copy.head).toBeGreaterThanOrEqual(before);
      expect(copy.head).toBeLessThanOrEqual(store.head());
      copies.push(copy);
    }
    await writer.end('SIGKILL');
    expect(copies[2]!.head).toBeGreaterThan(copies[0]!.head);
    expect(readdirSync(folder)).toEqual(['1.db', '2.db', '3.db']);
    expect(statSync(copies[0]!.path).mode & 0o777).toBe(0o600);

    const all = store.events({ after: 0, limit: LIMIT });
    for (const { path, head } of copies) {
      const copy = world.open({ path });
      expect(copy.head()).toBe(head);
      expect(copy.verifyRebuild()).toEqual([]);
      expect(copy.events({ after: 0, limit: LIMIT })).toEqual(all.slice(0, head));
      expect(copy.run(RUN)).toEqual(store.run(RUN));
    }
  },
);

it('a backup replaces no file, and leaves nothing behind when there is nothing to copy', async () => {
  world.open().append(sampleEvent('session.created'));
  const folder = world.sandbox.folder('backups');
  const target = join(folder, 'kept.db');
  writeFileSync(target, 'precious');
  await expect(backupDatabase({ path: world.path, target })).rejects.toMatchObject({ code: 'BACKUP_EXISTS' });
  expect(readFileSync(target, 'utf8')).toBe('precious');
  const absent = join(folder, 'absent.db');
  await expect(backupDatabase({ path: absent, target: join(folder, 'new.db') })).rejects.toMatchObject({
    code: 'STORE_UNAVAILABLE',
  });
  expect(readdirSync(folder)).toEqual(['kept.db']);
});
