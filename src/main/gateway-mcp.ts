import { createMcpDoor } from '../doors/mcp/door.js';
import type { McpOperation } from '../doors/mcp/tools.js';
import { takeInbox } from '../services/gateway/children/inbox.js';
import type { Gateway } from '../services/gateway/gateway.js';
import { callGateway } from '../services/gateway/operation.js';
import { GATEWAY_OPERATIONS } from '../services/gateway/operations/index.js';
import { EVERY_DOOR } from '../services/operation.js';

const FOR_AGENTS =
  'Delegate with spawn_session, then wait_for_run or go on with your own work: the end of a child is told to you. ' +
  'Talk to children with send_to_session. With reply_parent you ask whoever spawned you; end your turn after it.';
const FOR_CLIENTS =
  'Conversations with coding agents. create_session, then send_message: it answers at once with a run. wait_for_run ' +
  'until it is over (timed_out: ask again) or waits (send_message answers it); list_events is all that happened.';

/** The same operations as tools, for whoever holds a token: which run an agent speaks for is known by that. */
export function createGatewayMcp(gateway: Gateway): ReturnType<typeof createMcpDoor> {
  const forClients: McpOperation[] = GATEWAY_OPERATIONS.map((operation) => ({
    ...operation,
    doors: EVERY_DOOR,
  }));
  const forAgents: McpOperation[] = GATEWAY_OPERATIONS.map((operation) => ({
    ...operation,
    doors: EVERY_DOOR,
    input: operation.reach === 'own' ? operation.input.omit({ run_id: true }) : operation.input,
  }));
  return createMcpDoor({
    operations: (scope) => (scope === 'run' ? forAgents : forClients),
    version: gateway.settings.version,
    logger: gateway.logger,
    instructions: (scope) => (scope === 'run' ? FOR_AGENTS : FOR_CLIENTS),
    call: (call) => callGateway(GATEWAY_OPERATIONS, gateway, call),
    onListed: () => undefined,
    takeNotices: ({ runId }) => (runId === undefined ? [] : takeInbox(gateway.store, runId)),
  });
}
