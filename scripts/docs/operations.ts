import { OPERATIONS } from '../../src/services/operations/index.js';
import { kebab } from '../../src/doors/shared/projection.js';
import type { Offered, Operation } from '../../src/services/operation.js';
import { code, GENERATED, page, table, yesNo } from './markdown.js';
import { fieldTable } from './schema.js';

export function operationsPage(): string {
  const operations = [...OPERATIONS].sort((a, b) => a.name.localeCompare(b.name));
  return page(
    '# Operations',
    GENERATED,
    'An operation is one thing that the product can do for a caller, declared once. MCP tools, REST routes and command-line verbs are projections of this table. A token carries a scope: the lead’s, a worker’s, or a client’s.',
    table(
      ['operation', 'effect', 'scopes', 'MCP', 'REST', 'command line'],
      operations.map(({ name, effect, scopes, doors }) => [
        `[${name}](#${name})`,
        effect,
        scopes.join(', '),
        ...[doors.mcp, doors.rest, doors.cli].map((offered) => yesNo(offered === true)),
      ]),
    ),
    ...operations.flatMap(section),
  );
}

function section(operation: Operation): string[] {
  const { name, summary, effect, idempotent, positional, waits, doors } = operation;
  const repeat = idempotent ? 'Calling it twice is the same as calling it once.' : 'Each call counts.';
  const words = (positional ?? []).map((field) => kebab(field).toUpperCase());
  const notes = [
    `- effect: ${effect}. ${repeat}${waits === true ? ' It may wait, and sends progress meanwhile.' : ''}`,
    doors.rest === true ? `- REST: ${code(`${effect === 'read' ? 'GET' : 'POST'} /api/${kebab(name)}`)}` : '',
    doors.cli === true ? `- command line: ${code(`agentorchestr ${[kebab(name), ...words].join(' ')}`)}` : '',
    absence('MCP', doors.mcp),
    absence('REST', doors.rest),
    absence('the command line', doors.cli),
  ];
  return [
    `## ${name}`,
    summary,
    notes.filter((note) => note !== '').join('\n'),
    '### Input',
    fieldTable(operation.input, 'input'),
    '### Answer',
    fieldTable(operation.output, 'output'),
  ];
}

const absence = (door: string, offered: Offered): string =>
  offered === true ? '' : `- not through ${door}: ${offered}`;
