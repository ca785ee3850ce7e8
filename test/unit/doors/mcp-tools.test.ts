import { describe, expect, it } from 'vitest';
import { OrchestratorError } from '../../../src/core/errors/error.js';
import { errorResult, successResult, toolsFor } from '../../../src/doors/mcp/tools.js';
import { SCOPES } from '../../../src/services/operation.js';
import { OPERATIONS } from '../../../src/services/operations/index.js';

const text = (result: { content: unknown }) => {
  const [first] = result.content as { type: string; text: string }[];
  return first?.text ?? '';
};

describe('the tools', () => {
  it.each(SCOPES)('of the scope %s are those it may call, sorted, each once', (scope) => {
    const names = toolsFor(OPERATIONS, scope).map(({ name }) => name);
    expect(names).toEqual([...new Set(names)].sort((a, b) => a.localeCompare(b)));
    const allowed = OPERATIONS.filter(({ scopes, doors }) => scopes.includes(scope) && doors.mcp === true);
    expect(names).toEqual(expect.arrayContaining(allowed.map(({ name }) => name)));
    expect(names).toHaveLength(allowed.length);
  });

  it('of a worker can start, send to and end nobody', () => {
    const names = toolsFor(OPERATIONS, 'worker').map(({ name }) => name);
    expect(names).toEqual(['ask_lead', 'report_blocked', 'report_done']);
  });

  it('say what they do to the world', () => {
    const hints = new Map(toolsFor(OPERATIONS, 'lead').map(({ name, annotations }) => [name, annotations]));
    expect(hints.get('list_workers')).toEqual({
      title: 'list workers',
      readOnlyHint: true,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    });
    expect(hints.get('kill_worker')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  });

  it('of the lead may bring news with every answer, those of a worker never', () => {
    const withNews = (scope: 'lead' | 'worker') =>
      toolsFor(OPERATIONS, scope).filter(({ outputSchema }) => 'notices' in (outputSchema?.properties ?? {}));
    expect(withNews('lead')).toHaveLength(toolsFor(OPERATIONS, 'lead').length);
    expect(withNews('worker')).toEqual([]);
  });
});

describe('an answer', () => {
  it('is the same twice: structured, and as text', () => {
    const result = successResult({ a: 1 }, []);
    expect(result.structuredContent).toEqual({ a: 1 });
    expect(JSON.parse(text(result))).toEqual({ a: 1 });
  });

  it('carries the news', () => {
    expect(successResult({ a: 1 }, ['w01 is done']).structuredContent).toEqual({
      a: 1,
      notices: ['w01 is done'],
    });
  });
});

describe('a failure', () => {
  it('can be read and acted on by a model', () => {
    const error = new OrchestratorError('UNKNOWN_WORKER', { worker: 'w09', valid: ['w01', 'w02'] });
    const result = errorResult(error, ['w01 is done']);
    expect([result.isError, result.structuredContent]).toEqual([true, undefined]);
    expect(JSON.parse(text(result))).toEqual({
      error: {
        code: 'UNKNOWN_WORKER',
        message: 'no worker "w09" in this session',
        hint: 'workers are: w01, w02',
        retryable: false,
        valid: ['w01', 'w02'],
      },
      notices: ['w01 is done'],
    });
  });

  it('of ours tells nothing of our insides', () => {
    const shown = text(errorResult(new Error('SQLITE_CORRUPT at /home/user/secret'), []));
    expect(shown).not.toMatch(/SQLITE|secret/);
    expect(JSON.parse(shown)).toMatchObject({ error: { code: 'INTERNAL' } });
  });
});
