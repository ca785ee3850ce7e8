import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { errorBody, toOrchestratorError } from '../../core/errors/error.js';
import type { Operation, Scope } from '../../services/operation.js';
import { inputSchema, outputSchema } from '../shared/projection.js';

/** The part of an operation that makes it a tool, whatever it is about. */
export type McpOperation = Pick<
  Operation,
  'name' | 'summary' | 'effect' | 'idempotent' | 'scopes' | 'input' | 'output' | 'doors'
>;

const noticesField = z.array(z.string()).optional().describe('news from workers since the last call');

/** The tools of one scope, sorted by name: the operation table as MCP shows it. */
export function toolsFor(operations: readonly McpOperation[], scope: Scope): Tool[] {
  return offered(operations, scope).map((operation) => ({
    name: operation.name,
    description: operation.summary,
    inputSchema: inputSchema(operation) as Tool['inputSchema'],
    outputSchema: outputSchema(
      scope === 'lead' || scope === 'run'
        ? operation.output.extend({ notices: noticesField })
        : operation.output,
    ) as Tool['outputSchema'],
    annotations: {
      title: operation.name.replaceAll('_', ' '),
      readOnlyHint: operation.effect === 'read',
      destructiveHint: operation.effect === 'destroy',
      idempotentHint: operation.idempotent,
      openWorldHint: false,
    },
  }));
}

function offered(operations: readonly McpOperation[], scope: Scope): McpOperation[] {
  return operations
    .filter((operation) => operation.doors.mcp === true && operation.scopes.includes(scope))
    .sort((a, b) => a.name.localeCompare(b.name));
}

/** Structured output, and the same JSON as text for clients that read only that. */
export function successResult(answer: Record<string, unknown>, notices: readonly string[]): CallToolResult {
  const structuredContent = notices.length === 0 ? answer : { ...answer, notices: [...notices] };
  return { structuredContent, content: [{ type: 'text', text: JSON.stringify(structuredContent) }] };
}

/**
 * A failure the model can read and act on; never a protocol error. As text only: structured content must match the
 * tool's output schema, and the SDK's client rejects the whole answer when an error's does not.
 */
export function errorResult(thrown: unknown, notices: readonly string[]): CallToolResult {
  const error = toOrchestratorError(thrown);
  const { code, message, hint, retryable, params } = errorBody(error);
  const shown = code === 'INTERNAL' ? 'an unexpected failure; see the log' : message;
  const valid = params['valid'];
  const body = {
    error: {
      code,
      message: shown,
      ...(hint === undefined ? {} : { hint }),
      retryable,
      ...(Array.isArray(valid) ? { valid } : {}),
    },
    ...(notices.length === 0 ? {} : { notices: [...notices] }),
  };
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(body) }] };
}
