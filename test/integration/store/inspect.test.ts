import Database from 'better-sqlite3';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/platform/clock.js';
import { inspectDatabase } from '../../../src/store/inspect.js';
import { MIGRATIONS } from '../../../src/store/migrations/index.js';
import { openStore } from '../../../src/store/open-store.js';
import { SESSION, sampleEvent } from '../../support/sample-events.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

let sandbox: Sandbox;
let path: string;
beforeEach(() => {
  sandbox = createSandbox();
  path = join(sandbox.root, 'state', 'state.db');
});
afterEach(() => sandbox.close());

const look = () => inspectDatabase({ path, temp: sandbox.temp, clock: systemClock });
const folder = () =>
  readdirSync(join(path, '..')).map((name) => {
    const at = join(path, '..', name);
    return [name, statSync(at).mtimeMs, readFileSync(at).toString('base64')];
  });

describe('looking at a database', () => {
  it('finds nothing where there is no file, and makes none', async () => {
    const { exists, reader, close } = await look();
    expect({ exists, sessions: reader.sessions(9) }).toEqual({ exists: false, sessions: [] });
    await close();
    expect(existsSync(path)).toBe(false);
  });

  it('reads what only the log holds, while a writer has it open, and touches neither', async () => {
    const store = openStore({ path, clock: systemClock });
    store.append(sampleEvent('session.created'));
    const before = folder();
    expect(before.map(([name]) => name)).toEqual(['state.db', 'state.db-shm', 'state.db-wal']);
    const found = await look();
    expect(found.reader.sessions(9).map((row) => row.session_id)).toEqual([SESSION]);
    expect(found).toMatchObject({ exists: true, schema: found.newestSchema, damage: [] });
    await found.close();
    expect(folder()).toEqual(before);
    store.close();
  });

  it('reads what a killed process left, whose log nobody brought in', async () => {
    const store = openStore({ path, clock: systemClock });
    store.append(sampleEvent('session.created'));
    const left = join(sandbox.root, 'left');
    mkdirSync(left);
    for (const end of ['', '-wal']) copyFileSync(`${path}${end}`, join(left, `state.db${end}`));
    store.close();
    path = join(left, 'state.db');
    const before = folder();
    const found = await look();
    expect(found.reader.sessions(9)).toHaveLength(1);
    await found.close();
    expect(folder()).toEqual(before);
  });

  it('tells an older schema, and does not bring it up to date', async () => {
    const old = new Database(path);
    old.exec('CREATE TABLE migrations (version INTEGER PRIMARY KEY, name TEXT NOT NULL) STRICT');
    old.exec(MIGRATIONS[0]?.sql ?? '');
    old.prepare('INSERT INTO migrations VALUES (1, ?)').run('initial');
    old.close();
    const before = folder();
    const found = await look();
    expect(found).toMatchObject({ schema: 1, newestSchema: MIGRATIONS.at(-1)?.version });
    expect(found.reader.sessions(9)).toEqual([]);
    await found.close();
    expect(folder()).toEqual(before);
  });

  it('refuses a newer one, one of another program, and one that is none, by its own path', async () => {
    const other = new Database(path);
    other.exec('CREATE TABLE theirs (x)');
    other.close();
    await expect(look()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', params: { path } });
    const newer = new Database(path);
    newer.exec('CREATE TABLE migrations (version INTEGER, name TEXT); INSERT INTO migrations VALUES (99, 1)');
    newer.close();
    await expect(look()).rejects.toThrow(/newer version \(schema 99/);
    path = join(sandbox.root, 'state');
    await expect(look()).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE', params: { path } });
  });

  it('says so where it only could not look', async () => {
    openStore({ path, clock: systemClock }).close();
    const nowhere = inspectDatabase({ path, temp: join(sandbox.root, 'nowhere'), clock: systemClock });
    await expect(nowhere).rejects.toMatchObject({ params: { unseen: true } });
  });
});
