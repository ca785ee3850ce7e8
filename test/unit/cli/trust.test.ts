import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  areCommandsConsented,
  consentToCommands,
  isProjectTrusted,
  trustPath,
  trustProject,
} from '../../../src/config/trust.js';
import { resolvePaths } from '../../../src/platform/paths.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

let sandbox: Sandbox;
beforeEach(() => {
  sandbox = createSandbox();
});
afterEach(() => sandbox.close());

const AT = '2030-01-01T00:00:00.000Z';
const paths = () => resolvePaths(sandbox.env);

describe('trust', () => {
  it('is kept per project, wherever it is reached from, in a file of the owner alone', async () => {
    const project = sandbox.folder('project');
    symlinkSync(project, join(sandbox.root, 'link'));
    expect(await isProjectTrusted(paths(), project)).toBe(false);
    await trustProject(paths(), join(sandbox.root, 'link'), AT);
    expect(await isProjectTrusted(paths(), project)).toBe(true);
    expect(await isProjectTrusted(paths(), sandbox.folder('project/below'))).toBe(false);
    expect(statSync(trustPath(paths())).mode & 0o777).toBe(0o600);
    expect(statSync(paths().data).mode & 0o777).toBe(0o700);
  });

  it('covers this very list of commands in this very order', async () => {
    const project = sandbox.folder('project');
    await consentToCommands(paths(), project, { commands: ['a', 'b'], at: AT });
    const agreed = (commands: string[]) => areCommandsConsented(paths(), project, commands);
    expect(
      await Promise.all([agreed(['a', 'b']), agreed(['b', 'a']), agreed(['a']), agreed(['ab'])]),
    ).toEqual([true, false, false, false]);
    expect(await areCommandsConsented(paths(), sandbox.folder('other'), ['a', 'b'])).toBe(false);
  });

  it('loses nothing when many agree at once', async () => {
    const projects = Array.from({ length: 12 }, (_, index) => sandbox.folder(`p${index}`));
    await Promise.all(projects.map((project) => trustProject(paths(), project, AT)));
    await Promise.all(
      projects.map((project) => consentToCommands(paths(), project, { commands: ['x'], at: AT })),
    );
    expect(
      await Promise.all(projects.map((project) => areCommandsConsented(paths(), project, ['x']))),
    ).not.toContain(false);
    expect(Object.keys(JSON.parse(readFileSync(trustPath(paths()), 'utf8')) as object)).toHaveLength(12);
  });

  it('is not granted by a damaged file, which is named and left as it is', async () => {
    mkdirSync(paths().data, { recursive: true });
    writeFileSync(trustPath(paths()), '{"/proj');
    chmodSync(paths().data, 0o700);
    const project = sandbox.folder('project');
    for (const attempt of [isProjectTrusted(paths(), project), trustProject(paths(), project, AT)])
      await expect(attempt).rejects.toMatchObject({
        code: 'FILE_NOT_READABLE',
        message: expect.stringContaining(trustPath(paths())) as string,
      });
    expect(readFileSync(trustPath(paths()), 'utf8')).toBe('{"/proj');
  });
});
