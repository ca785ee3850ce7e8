import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LeftSession } from '../../support/left-session.js';
import { allRefs, fingerprint } from '../../support/repo.js';

vi.setConfig({ testTimeout: 240_000, hookTimeout: 60_000 });

let session: LeftSession;
beforeEach(async () => {
  session = await LeftSession.create();
});
afterEach(() => session.close());

async function integrated(): Promise<string> {
  const tree = await session.worker('w01');
  tree.commit('work', { 'w.txt': 'w\n' });
  return session.integrate(tree);
}

const merge = (input: { anyway?: boolean } = {}) => session.call('merge', input);
const row = () => session.store.session(session.sessionId);

describe('merge', () => {
  it('brings the result home late, says when it is there already, and the session knows', async () => {
    const commit = await integrated();
    session.end('done', { applied: 'not applied: it was on another branch' });
    expect(await merge()).toMatchObject({ already: false, commit });
    expect(session.repo.git('rev-parse', 'HEAD')).toBe(commit);
    expect(row()?.applied).toMatch(/^main was fast-forwarded to /);
    expect((await session.call('status', {}, true))['merge_command']).toBeNull();
    const head = session.store.head();
    expect(await merge()).toMatchObject({ already: true, how: 'your checkout has it already' });
    expect(session.store.head()).toBe(head);
  });

  it('refuses when something of the user is in the way, as --apply does, and changes nothing', async () => {
    await integrated();
    session.end('done');
    session.repo.write('w.txt', 'of the user\n');
    const before = [fingerprint(session.repo.path, session.repo.repository), allRefs(session.repo)];
    await expect(merge()).rejects.toMatchObject({ code: 'CHECKOUT_NOT_SAFE' });
    expect([fingerprint(session.repo.path, session.repo.repository), allRefs(session.repo)]).toEqual(before);
    expect(row()?.applied).toBeNull();
  });

  it('refuses on another branch than the session began on', async () => {
    await integrated();
    session.end('done');
    session.repo.git('switch', '--quiet', '-c', 'other');
    await expect(merge()).rejects.toThrow(/it is on other now, and was on main/);
  });

  it('brings home a goal that was not reached only when that is said', async () => {
    await integrated();
    session.end('failed');
    await expect(merge()).rejects.toMatchObject({ code: 'GOAL_NOT_REACHED' });
    expect(await merge({ anyway: true })).toMatchObject({ already: false });
    expect(session.repo.read('w.txt')).toBe('w\n');
  });

  it('says that nothing was integrated', async () => {
    session.end('done');
    await expect(merge()).rejects.toMatchObject({ code: 'NOTHING_TO_MERGE' });
  });

  it('still can after clean has removed the branch of a failed session', async () => {
    await integrated();
    session.end('failed');
    await session.clean({ give_up: true });
    expect(await merge({ anyway: true })).toMatchObject({ already: false });
    expect(session.repo.read('w.txt')).toBe('w\n');
  });
});

describe('merge of a session that began with uncommitted changes', () => {
  beforeEach(async () => {
    const { world, repo } = session;
    session.store.close();
    rmSync(session.tempFolder, { recursive: true });
    repo.write('a.txt', 'changed by the user\n');
    session = await LeftSession.create({ world, repo, sessionId: '4567cdef', includeChanges: true });
    await integrated();
    session.end('done');
  });

  it('brings the difference from the snapshot, uncommitted, and knows that it did', async () => {
    const head = session.repo.git('rev-parse', 'HEAD');
    expect(await merge()).toMatchObject({
      already: false,
      how: expect.stringContaining('1 changed file') as string,
    });
    expect(session.repo.git('rev-parse', 'HEAD')).toBe(head);
    expect([session.repo.read('a.txt'), session.repo.read('w.txt')]).toEqual([
      'changed by the user\n',
      'w\n',
    ]);
    expect(await merge()).toMatchObject({ already: true, how: 'your checkout has it already' });
    session.repo.commit('all of it');
    expect(await merge()).toMatchObject({ already: true });
  });

  it('refuses when the tree changed since, or a commit was made', async () => {
    session.repo.write('a.txt', 'changed again\n');
    await expect(merge()).rejects.toThrow(/changed since the session began: a.txt/);
    session.repo.write('a.txt', 'changed by the user\n');
    session.repo.commit('of the user');
    await expect(merge()).rejects.toThrow(/its HEAD moved/);
    expect(session.repo.git('status', '--porcelain')).toBe('');
    expect(() => session.repo.read(join('w.txt'))).toThrow(/ENOENT/);
  });
});
