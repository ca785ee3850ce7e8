import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import ts from 'typescript';
import { REPOSITORY } from './sources.js';

it.each(['tsconfig.json', 'tsconfig.modules.json'])('%s keeps every strictness flag on', (name) => {
  const path = join(REPOSITORY, name);
  const { config } = ts.parseConfigFileTextToJson(path, readFileSync(path, 'utf8')) as { config: unknown };
  const { options, errors } = ts.parseJsonConfigFileContent(config, ts.sys, REPOSITORY);
  expect(errors).toEqual([]);
  expect(options).toMatchObject({
    strict: true,
    noUncheckedIndexedAccess: true,
    exactOptionalPropertyTypes: true,
    noImplicitOverride: true,
    noFallthroughCasesInSwitch: true,
    verbatimModuleSyntax: true,
    erasableSyntaxOnly: true,
    isolatedModules: true,
  });
});

it('the installed TypeScript is the one that the boundary check can load', () => {
  expect(ts.versionMajorMinor.split('.')[0]).toBe('6');
});
