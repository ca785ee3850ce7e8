import type { Environment, Place } from './git-environment.js';
import type { GitRoom } from './git-room.js';

const FALLBACK = { name: 'agentorchestr', email: 'agentorchestr@localhost' };

/** A fixed author for commits that nobody ever sees (predictions, comparisons). */
export const SCRATCH_IDENTITY: Environment = {
  GIT_AUTHOR_NAME: FALLBACK.name,
  GIT_AUTHOR_EMAIL: FALLBACK.email,
  GIT_COMMITTER_NAME: FALLBACK.name,
  GIT_COMMITTER_EMAIL: FALLBACK.email,
};

/**
 * What to add to the environment of a command that commits: nothing when the user told git who they are, else what is
 * missing. Never written to a config; git's guess from host and account name is not taken for an identity.
 */
export async function identityEnvironment(room: GitRoom, at: Place): Promise<Environment> {
  const [author, committer] = await Promise.all([
    isKnown(room, at, 'AUTHOR'),
    isKnown(room, at, 'COMMITTER'),
  ]);
  if (author && committer) return {};
  const name = (await setting(room, at, 'user.name')) ?? FALLBACK.name;
  const email = (await setting(room, at, 'user.email')) ?? FALLBACK.email;
  const fill = (role: 'AUTHOR' | 'COMMITTER') => ({
    [`GIT_${role}_NAME`]: room.env[`GIT_${role}_NAME`] ?? name,
    [`GIT_${role}_EMAIL`]: room.env[`GIT_${role}_EMAIL`] ?? email,
  });
  return { ...(author ? {} : fill('AUTHOR')), ...(committer ? {} : fill('COMMITTER')) };
}

async function isKnown(room: GitRoom, at: Place, role: 'AUTHOR' | 'COMMITTER'): Promise<boolean> {
  const args = ['-c', 'user.useConfigOnly=true', 'var', `GIT_${role}_IDENT`];
  return (await room.run(args, { at, answers: [0, 1, 128] })).code === 0;
}

export async function setting(room: GitRoom, at: Place, key: string): Promise<string | null> {
  const found = await room.run(['config', '--get', key], { at, answers: [0, 1] });
  return found.code === 0 && found.text !== '' ? found.text : null;
}
