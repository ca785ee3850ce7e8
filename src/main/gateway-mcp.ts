import { createMcpDoor } from '../doors/mcp/door.js';
import type { McpOperation } from '../doors/mcp/tools.js';
import { takeInbox } from '../services/gateway/children/inbox.js';
import type { Gateway } from '../services/gateway/gateway.js';
import { callGateway } from '../services/gateway/operation.js';
import { GATEWAY_OPERATIONS } from '../services/gateway/operations/index.js';
import { EVERY_DOOR } from '../services/operation.js';

const INSTRUCTIONS =
  'Delegate with spawn_session, then wait_for_run or go on with your own work: the end of a child is told to you. ' +
  'Talk to children with send_to_session. With reply_parent you ask whoever spawned you; end your turn after it.';

/** The tools of agents in conversations: the same operations; which run they speak for is known by their token. */
export function createGatewayMcp(gateway: Gateway): ReturnType<typeof createMcpDoor> {
  const tools: McpOperation[] = GATEWAY_OPERATIONS.map((operation) => ({
    ...operation,
    doors: EVERY_DOOR,
    input: operation.reach === 'own' ? operation.input.omit({ run_id: true }) : operation.input,
  }));
  return createMcpDoor({
    operations: () => tools,
    version: gateway.settings.version,
    logger: gateway.logger,
    instructions: () => INSTRUCTIONS,
    call: (call) => callGateway(GATEWAY_OPERATIONS, gateway, call),
    onListed: () => undefined,
    takeNotices: (caller) => takeInbox(gateway.store, caller.runId ?? ''),
  });
}
