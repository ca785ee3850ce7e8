import { join } from 'node:path';
import { z } from 'zod';
import { namesIn } from '../platform/disk.js';
import { ensurePrivateDirectory, readTextFile, removeFile, writeFileAtomic } from '../platform/files.js';
import { isSameProcessAlive, ownIdentity } from '../platform/identity.js';
import type { Paths } from '../platform/paths.js';

/** How a daemon is found by our own commands. */
const daemonFile = z.object({
  pid: z.number().int(),
  pid_started_at: z.string(),
  boot_id: z.string(),
  url: z.string(),
  database: z.string(),
  token_file: z.string().nullable(),
  instance_id: z.string(),
  version: z.string(),
});

export interface KnownDaemon {
  readonly file: z.output<typeof daemonFile>;
  readonly path: string;
  /** false: it died and left its file. */
  readonly isAlive: boolean;
}

export function daemonsFolder({ state }: Pick<Paths, 'state'>): string {
  return join(state, 'daemons');
}

type Announced = Omit<z.input<typeof daemonFile>, 'pid' | 'pid_started_at' | 'boot_id'>;

/** Says to our own commands where this process is (0600). Returns what takes it back. */
export async function announceDaemon(
  paths: Pick<Paths, 'state'>,
  name: string,
  announced: Announced,
): Promise<() => Promise<void>> {
  const { pid, pidStartedAt, bootId } = ownIdentity();
  const folder = daemonsFolder(paths);
  const path = join(folder, `${name}.json`);
  await ensurePrivateDirectory(folder);
  const file: z.input<typeof daemonFile> = {
    ...{ pid, pid_started_at: pidStartedAt, boot_id: bootId },
    ...announced,
  };
  await writeFileAtomic(path, JSON.stringify(file));
  return async () => removeFile(path);
}

/** The daemon of this machine at this address; one that lives before one that left its file; null: none was ever. */
export async function findDaemon(paths: Pick<Paths, 'state'>, url: string): Promise<KnownDaemon | null> {
  const here = (await readDaemons(paths)).filter(({ file }) => sameAddress(file.url, url));
  return here.find(({ isAlive }) => isAlive) ?? here[0] ?? null;
}

/** The one that lives on this database (absolute path); null: none that is known of. */
export async function daemonOn(paths: Pick<Paths, 'state'>, database: string): Promise<KnownDaemon | null> {
  const all = await readDaemons(paths);
  return all.find(({ file, isAlive }) => isAlive && file.database === database) ?? null;
}

/** Those that live, and those that died without taking their file away. */
export async function readDaemons(paths: Pick<Paths, 'state'>): Promise<readonly KnownDaemon[]> {
  const folder = daemonsFolder(paths);
  const names = (await namesIn(folder)).filter((name) => name.endsWith('.json'));
  const all = await Promise.all(names.map((name) => readDaemon(join(folder, name))));
  return all.filter((known) => known !== null);
}

async function readDaemon(path: string): Promise<KnownDaemon | null> {
  const text = await readTextFile(path);
  if (text === null) return null;
  const parsed = daemonFile.safeParse(jsonOf(text));
  if (!parsed.success) return null;
  const { pid, pid_started_at: pidStartedAt, boot_id: bootId } = parsed.data;
  return { file: parsed.data, path, isAlive: isSameProcessAlive({ pid, pidStartedAt, bootId }) };
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

function sameAddress(one: string, other: string): boolean {
  const plain = (url: string) => new URL(url).origin.replace('//localhost:', '//127.0.0.1:');
  return plain(one) === plain(other);
}
