import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { OPERATIONS } from '../../src/services/operations/index.js';

const table = OPERATIONS.map((operation) => ({ name: operation.name, operation }));

describe('the operation table', () => {
  it('names every operation once, as verb_noun in snake_case', () => {
    const names = OPERATIONS.map(({ name }) => name);
    expect(names).toEqual([...new Set(names)]);
    for (const name of names) expect(name).toMatch(/^[a-z]+(_[a-z]+)*$/);
  });

  describe.each(table)('$name', ({ operation }) => {
    it('is reachable through each door, or says why not', () => {
      for (const offered of Object.values(operation.doors))
        expect(offered === true || offered.trim().split(' ').length >= 3).toBe(true);
      expect(Object.values(operation.doors)).toContain(true);
    });

    it('is reachable for every scope that may call it', () => {
      const { mcp, rest, cli } = operation.doors;
      const reachable = {
        lead: mcp === true,
        worker: mcp === true,
        // Of the gateway's table alone.
        run: false,
        client: rest === true,
        admin: rest === true || cli === true,
      };
      expect(operation.scopes.filter((scope) => !reachable[scope])).toEqual([]);
      expect(operation.scopes).not.toEqual([]);
    });

    it('is offered by no door whose callers may not call it', () => {
      const agents = operation.scopes.some((scope) => scope === 'lead' || scope === 'worker');
      const people = operation.scopes.some((scope) => scope === 'client' || scope === 'admin');
      expect({
        mcp: operation.doors.mcp === true && !agents,
        rest: operation.doors.rest === true && !people,
      }).toEqual({
        mcp: false,
        rest: false,
      });
    });

    it('says in one line what it does', () => {
      expect(operation.summary).toMatch(/^[A-Z][^\n]{10,200}\.$/);
    });

    it('takes its positional fields from its input', () => {
      expect(Object.keys(operation.input.shape)).toEqual(
        expect.arrayContaining([...(operation.positional ?? [])]),
      );
    });

    it('speaks snake_case on the wire, all the way down', () => {
      expect(fieldNames(operation.input, 'input').filter((field) => !SNAKE.test(field))).toEqual([]);
      expect(fieldNames(operation.output, 'output').filter((field) => !SNAKE.test(field))).toEqual([]);
    });
  });
});

const SNAKE = /^[a-z0-9]+(_[a-z0-9]+)*$/;

function fieldNames(schema: z.ZodType, io: 'input' | 'output'): string[] {
  const names: string[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    const { properties } = node as { properties?: Record<string, unknown> };
    if (properties !== undefined) names.push(...Object.keys(properties));
    Object.values(node).forEach(visit);
  };
  visit(z.toJSONSchema(schema, { io, unrepresentable: 'any' }));
  return names;
}
