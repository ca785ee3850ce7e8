import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ALL_COMMANDS } from '../../src/doors/cli/operation-commands.js';
import { toolsFor } from '../../src/doors/mcp/tools.js';
import { createRestDoor } from '../../src/doors/rest/door.js';
import type { Caller, Operation } from '../../src/services/operation.js';
import { OPERATIONS } from '../../src/services/operations/index.js';

const named = (operations: readonly Operation[]): string[] => operations.map(({ name }) => name).sort();

describe('MCP', () => {
  it.each(['lead', 'worker'] as const)(
    'offers a %s exactly the operations of the table that are for it',
    (scope) => {
      const expected = OPERATIONS.filter(({ doors, scopes }) => doors.mcp === true && scopes.includes(scope));
      expect(toolsFor(OPERATIONS, scope).map(({ name }) => name)).toEqual(named(expected));
    },
  );
});

describe('REST', () => {
  const caller: Caller = { scope: 'client', workerId: null, name: 'test', callLimitMs: 1_000 };
  const called: string[] = [];
  const door = createRestDoor({
    operations: OPERATIONS,
    call: ({ operation }) => {
      called.push(operation);
      return Promise.resolve({});
    },
  });
  const server = createServer((request, response) => {
    void door
      .handle(request, response, new URL(request.url ?? '/', 'http://127.0.0.1'), caller)
      .then((ours) => {
        if (!ours) response.writeHead(404).end();
      });
  });
  const fetchFrom = (path: string, method: string) =>
    fetch(`http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, { method });

  beforeAll(() => new Promise<void>((done) => server.listen(0, '127.0.0.1', done)));
  afterAll(() => new Promise<void>((done) => server.close(() => done())));

  it('lists exactly the operations of the table that are for it', async () => {
    const { operations } = (await (await fetchFrom('/api/operations', 'GET')).json()) as {
      operations: { name: string }[];
    };
    expect(operations.map(({ name }) => name).sort()).toEqual(
      named(OPERATIONS.filter(({ doors }) => doors.rest === true)),
    );
  });

  it.each(OPERATIONS.map(({ name, effect, doors }) => ({ name, effect, offered: doors.rest === true })))(
    'calls $name at its path, or has no such path',
    async ({ name, effect, offered }) => {
      called.length = 0;
      const { status } = await fetchFrom(
        `/api/${name.replaceAll('_', '-')}`,
        effect === 'read' ? 'GET' : 'POST',
      );
      expect({ status, called }).toEqual(
        offered ? { status: 200, called: [name] } : { status: 404, called: [] },
      );
    },
  );
});

describe('the command line', () => {
  const commands = ALL_COMMANDS.map(({ name }) => name);

  it('knows every command once', () => {
    expect(commands).toEqual([...new Set(commands)]);
  });

  it.each(OPERATIONS.map(({ name, doors }) => ({ name, offered: doors.cli === true })))(
    'has a command for $name, or none',
    ({ name, offered }) => {
      expect(commands.includes(name.replaceAll('_', '-'))).toBe(offered);
    },
  );
});
