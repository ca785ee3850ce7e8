import { accessSync, constants } from 'node:fs';
import { createGitWorld, type GitWorld, type TestRepo } from '../../support/repo.js';

const MEMORY = '/dev/shm';

/** Real git on a file system in memory where there is one: on a disk, files made after others were deleted are slow. */
export function gitWorldInMemory(): GitWorld {
  const before = process.env['TMPDIR'];
  try {
    accessSync(MEMORY, constants.W_OK);
    process.env['TMPDIR'] = MEMORY;
  } catch {
    // Then on the disk.
  }
  try {
    return createGitWorld();
  } finally {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
  }
}

const FILES_IN_A_FOLDER = 100;

/** A repository of so many small files, a hundred in each folder. */
export function repositoryOf(world: GitWorld, files: number): TestRepo {
  const repo = world.repo(`of-${files}`, { empty: true });
  const names = Array.from(
    { length: files },
    (_, file) => `src/${Math.floor(file / FILES_IN_A_FOLDER)}/file-${file}.ts`,
  );
  repo.commit('first', Object.fromEntries(names.map((name) => [name, `export const name = '${name}';\n`])));
  return repo;
}
