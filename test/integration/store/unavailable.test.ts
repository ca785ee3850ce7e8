import {
  chmodSync,
  copyFileSync,
  existsSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import { sampleEvent, sampleRun, SESSION } from '../../support/sample-events.js';
import { createStoreWorld, type StoreWorld } from './harness.js';

let world: StoreWorld;

beforeEach(() => {
  world = createStoreWorld();
});
afterEach(() => world.close());

function failureOf(work: () => unknown): OrchestratorError {
  try {
    work();
  } catch (error) {
    if (error instanceof OrchestratorError) return error;
    throw error;
  }
  throw new Error('it did not fail');
}

/** A closed database of some size. */
function written(): string {
  const store = world.open();
  store.append(...sampleRun());
  const message = 'x'.repeat(3_000);
  for (let index = 0; index < 100; index += 1) store.append(sampleEvent('progress.reported', { message }));
  store.close();
  return world.path;
}

const raw = (path: string, sql: string) => new Database(path).exec(sql).close();

describe('STORE_UNAVAILABLE says what is wrong with', () => {
  it.each<[string, string, (path: string) => void]>([
    [
      'a file of something else',
      'not an SQLite database',
      (path) => writeFileSync(path, 'just a text, '.repeat(500)),
    ],
    [
      'a truncated file',
      'damaged',
      (path) => truncateSync(path, Math.floor(statSync(path).size / 8192) * 4096),
    ],
    [
      'a damaged page of the schema',
      'damaged',
      (path) => writeFileSync(path, scribbled(readFileSync(path), 100, 4_000)),
    ],
    ['a database of another program', 'another program', (path) => raw(path, 'DROP TABLE migrations')],
    ['a newer schema', 'schema 99', (path) => raw(path, "INSERT INTO migrations VALUES (99, 'later')")],
  ])('%s', (_what, problem, damage) => {
    const path = written();
    damage(path);
    for (const readOnly of [false, true]) {
      const failure = failureOf(() => world.open({ readOnly }));
      expect(failure.code).toBe('STORE_UNAVAILABLE');
      expect(failure.message).toContain(path);
      expect(failure.message).toContain(problem);
      expect(failure.hint).toBeTruthy();
    }
  });

  it('a page that is damaged where only a later read looks', () => {
    const path = written();
    writeFileSync(path, scribbled(readFileSync(path), statSync(path).size - 100_000, 100_000));
    const store = world.open();
    const failure = failureOf(() => store.events({ after: 0, limit: 1_000 }));
    expect(failure).toMatchObject({ code: 'STORE_UNAVAILABLE', params: { path } });
  });

  it('a path that is a folder, or below a file', () => {
    const folder = world.sandbox.folder('folder');
    writeFileSync(join(folder, 'file'), '');
    expect(failureOf(() => world.open({ path: folder })).code).toBe('STORE_UNAVAILABLE');
    expect(failureOf(() => world.open({ path: join(folder, 'file', 'x', 'state.db') })).code).toBe(
      'STORE_UNAVAILABLE',
    );
  });

  it('a read-only folder and a read-only file', async () => {
    const path = written();
    const folder = join(path, '..');
    chmodSync(path, 0o444);
    chmodSync(folder, 0o555);
    chmodSync(world.sandbox.root, 0o755);
    const child = await world.child(UNPRIVILEGED);
    await expect(child.ask('append', { sessionId: SESSION, count: 1, tag: 'x' })).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      hint: expect.stringContaining('owner and mode') as string,
    });
    await expect(child.ask('openForReading')).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    chmodSync(folder, 0o700);
  });

  it('a file that may not grow any more, and loses nothing that was there', async () => {
    const child = await world.child({ fileLimitKb: 400 });
    const failure = child.ask('append', { sessionId: SESSION, count: 20_000, tag: 'x'.repeat(500) });
    await expect(failure).rejects.toMatchObject({
      code: 'STORE_UNAVAILABLE',
      message: expect.stringMatching(/writ(e|ing)/) as string,
    });
    await child.end();
    const store = world.open();
    const head = store.head();
    expect(head).toBeGreaterThan(10);
    expect(store.events({ after: 0, limit: 20_000 }).map((event) => event.seq)).toEqual(
      Array.from({ length: head }, (_, index) => index + 1),
    );
    expect(store.append(sampleEvent('session.created'))[0]?.seq).toBe(head + 1);
  });
});

/** The superuser passes every permission check, so the child of a superuser is somebody else. */
const UNPRIVILEGED = process.getuid?.() === 0 ? { uid: 65_534 } : {};

function scribbled(content: Buffer, from: number, length: number): Buffer {
  return content.fill(0xa5, from, from + length);
}

describe('opening', () => {
  it('makes a file of 0600 in a folder of 0700, and tightens a file that is wider', () => {
    const modes = () =>
      ['..', '.', '../state.db-wal', '../state.db-shm'].map((name) =>
        (statSync(join(world.path, name === '.' ? '' : name)).mode & 0o777).toString(8),
      );
    const store = world.open();
    store.append(sampleEvent('session.created'));
    expect(modes()).toEqual(['700', '600', '600', '600']);
    store.close();
    chmodSync(world.path, 0o644);
    world.open().append(sampleEvent('session.paused'));
    expect(modes()).toEqual(['700', '600', '600', '600']);
  });

  it('leaves the mode of a folder that was there', () => {
    const folder = world.sandbox.folder('shared');
    chmodSync(folder, 0o755);
    world.open({ path: join(folder, 'state.db') });
    expect((statSync(folder).mode & 0o777).toString(8)).toBe('755');
  });

  it('switches a database to write-ahead logging that was copied without its log', () => {
    const path = written();
    raw(path, 'PRAGMA journal_mode = DELETE');
    const copy = join(world.sandbox.folder('copy'), 'state.db');
    copyFileSync(path, copy);
    const store = world.open({ path: copy });
    expect(store.head()).toBe(107);
    expect(existsSync(`${copy}-wal`)).toBe(true);
  });

  it('for reading takes a missing file for a store without rows, and does not make it', () => {
    const store = world.open({ readOnly: true });
    expect([store.head(), store.sessions(10), store.session(SESSION), store.verifyRebuild()]).toEqual([
      0,
      [],
      null,
      [],
    ]);
    store.subscribe(0, () => {})();
    expect(existsSync(world.path)).toBe(false);
  });

  it('for reading reads what others write, and writes nothing itself', () => {
    world.open().append(sampleEvent('session.created'));
    const store = world.open({ readOnly: true });
    expect(store.sessions(10).map((row) => row.session_id)).toEqual([SESSION]);
    const writes = [
      () => store.append(sampleEvent('session.paused')),
      () => store.transaction(() => 1),
      () => store.acquireLease(SESSION, { pid: 1, pidStartedAt: '1', bootId: 'x' }),
      () => store.releaseLease(SESSION, { pid: 1, pidStartedAt: '1', bootId: 'x' }),
      () => store.publish({} as Parameters<typeof store.publish>[0]),
    ];
    for (const write of writes) expect(write).toThrow('for reading only');
  });
});
