import { copyFileSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { SessionControl } from '../../../src/main/session-control.js';
import { systemClock } from '../../../src/platform/clock.js';
import { resolvePaths } from '../../../src/platform/paths.js';
import type { Store } from '../../../src/store/contract.js';
import { openReadOnlyStore } from '../../../src/store/open-read-only.js';
import type { TestRepo } from '../../support/repo.js';
import { until } from '../../support/tmux.js';
import { CliRig, ONE_WORKER, SILENT_LEAD, type Running } from './rig.js';

const LIMIT_MS = 90_000;

let rig: CliRig;
beforeEach(async () => {
  rig = await CliRig.create();
});
afterEach(() => rig.close());

/** Somebody with a home of their own on the same machine: same programs, same folder for temporary files. */
interface User {
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Session {
  readonly id: string;
  readonly user: User;
  readonly repo: TestRepo;
  readonly started: Running;
}

const envOf = ({ env }: User) => ({ ...rig.env, ...env });
const dataOf = (user: User) => resolvePaths(envOf(user)).data;

function look<T>(user: User, read: (store: Store) => T): T {
  const store = openReadOnlyStore({ path: join(dataOf(user), 'state.db'), clock: systemClock });
  try {
    return read(store);
  } finally {
    store.close();
  }
}

function anotherUser(): User {
  const home = rig.world.sandbox.folder('another');
  copyFileSync(join(rig.world.sandbox.home, '.gitconfig'), join(home, '.gitconfig'));
  return { env: { HOME: home, AGENTORCHESTR_HOME: undefined } };
}

async function begin(user: User, repo: TestRepo, script: string): Promise<Session> {
  const args = ['--goal', 'x', '--yes', '--no-attach', '--kill-tmux', '--verify', 'true'];
  const playing = ['--agents', 'scripted', '--agent-option', `scripted.script=${script}`];
  const started = rig.start([...args, ...playing], { cwd: repo.path, env: user.env });
  const [, id = ''] = await started.says(/session ([0-9a-f]{8}) runs/);
  return { id, user, repo, started };
}

/** Everything by which one session could meet another. */
function facts({ id, user }: Session) {
  const control = join(dataOf(user), 'sessions', id, 'control.json');
  const { port, pid } = JSON.parse(readFileSync(control, 'utf8')) as SessionControl;
  const { row, workers } = look(user, (store) => ({ row: store.session(id), workers: store.workers(id) }));
  const directory = row?.directory ?? '';
  const texts = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'utf8'));
  return {
    port,
    /** The lead works where all is integrated. */
    own: [
      ...new Set([
        ...[id, String(pid), String(port), row?.tmux_socket, directory, row?.integration_branch],
        ...[row?.integration_worktree, ...workers.flatMap(({ branch, worktree }) => [branch, worktree])],
      ]),
    ].filter((fact) => fact !== null),
    /** Ports of ours that its agents were given. */
    given: new Set(texts.flatMap((text) => [...text.matchAll(/127\.0\.0\.1:(\d+)/g)].map(([, to]) => to))),
  };
}

const isWorking = ({ id, user }: Session) =>
  look(user, (store) => store.worker(id, 'w01')?.state) === 'working';

it('[30] two sessions of one project, and one of another user and project, go on side by side; to pause, end or clean one leaves the others alone', async () => {
  const [one, two] = [{ env: {} }, anotherUser()];
  const gates = ['a', 'b'].map((name) => join(rig.world.sandbox.root, `gate-${name}`));
  const scripts = gates.map((gate, index) => rig.file(`working-${index}.yaml`, workingBehind(gate)));
  const [first, second, foreign] = await Promise.all([
    begin(one, rig.repo, scripts[0] ?? ''),
    begin(one, rig.repo, scripts[1] ?? ''),
    begin(two, rig.world.repo('other'), rig.file('silent.yaml', SILENT_LEAD)),
  ]);
  await until(() => [first, second].every(isWorking), 'both at work', LIMIT_MS);

  const all = [first, second, foreign].map(facts);
  const everything = all.flatMap(({ own }) => own);
  expect(everything.filter((fact, index) => everything.indexOf(fact) !== index)).toEqual([]);
  for (const { port, given } of all) expect([...given]).toEqual([String(port)]);

  const by = (user: User) => ({ env: user.env });
  expect(await rig.run(['pause', first.id], by(two))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`no session "${first.id}"`) as string,
  });
  expect(await rig.run(['pause', foreign.id], by(two))).toMatchObject({ code: 0 });
  expect((await foreign.started.finished).code).toBe(2);
  expect([first, second].every(isWorking)).toBe(true);

  writeFileSync(gates[0] ?? '', '');
  await verified(first);
  expect(isWorking(second)).toBe(true);
  expect(await rig.run(['clean', first.id, '--yes'], by(one))).toMatchObject({ code: 0 });
  expect(rig.repo.git('branch', '--list', `*${first.id}*`).trim()).toBe(
    `agentorchestr/${first.id}/integration`,
  );
  expect(isWorking(second)).toBe(true);
  writeFileSync(gates[1] ?? '', '');
  await verified(second);
});

/** Its worker waits for a file. */
function workingBehind(gate: string): string {
  const wait = `      - run: 'until [ -e ${gate} ]; do sleep 0.1; done'\n`;
  return ONE_WORKER.replace('      - write: b.txt', `${wait}      - write: b.txt`);
}

async function verified({ id, user, repo, started }: Session): Promise<void> {
  const { code, stdout } = await started.finished;
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringContaining('passed') as string });
  const row = look(user, (store) => store.session(id));
  expect(row).toMatchObject({ state: 'done', summary: 'b.txt is there' });
  expect(repo.git('show', `${row?.integration_branch ?? ''}:b.txt`)).toBe('b');
  expect(repo.git('status', '--porcelain')).toBe('');
}
