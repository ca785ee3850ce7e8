import type { GatewayOperation } from '../../services/gateway/operation.js';
import { inputSchema, isList, isRecord, isSwitch, kebab, type Property } from '../shared/projection.js';
import type { FlagTable } from './arguments.js';

/** Names that do not follow from the operation's own (`create_session` → `session create`). The first is shown. */
const NAMES: Readonly<Record<string, readonly string[]>> = {
  send_message: ['message send', 'send'],
  list_events: ['events list'],
  wait_for_run: ['run wait', 'tool session-wait'],
  daemon_status: ['daemon status'],
  spawn_session: ['session spawn', 'tool session-spawn'],
  send_to_session: ['session send', 'tool session-send'],
  reply_parent: ['session reply-parent', 'tool session-reply-parent'],
};

/** Other names of flags, where the documents have them. */
const OTHER_FLAGS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  spawn_session: { 'parent-run-id': 'run_id' },
  send_to_session: { wait: 'timeout_s' },
};

/** An operation of the gateway's table as a command. */
export interface OperationCommand {
  readonly names: readonly string[];
  readonly operation: GatewayOperation;
  readonly properties: Readonly<Record<string, Property>>;
  readonly required: readonly string[];
  /** Fields that may be given without their flags: what it is about, then the text. */
  readonly positional: readonly string[];
  /** Flags that mean a field of another name. */
  readonly otherFlags: Readonly<Record<string, string>>;
}

export function commandOf(operation: GatewayOperation): OperationCommand {
  const schema = inputSchema(operation) as {
    properties?: Record<string, Property>;
    required?: readonly string[];
  };
  const properties = schema.properties ?? {};
  const inAddress = [...operation.address.path.matchAll(/\{(\w+)\}/g)].map(([, field = '']) => field);
  const required = schema.required ?? [];
  const about = [...new Set([...inAddress, ...required.filter((field) => field.endsWith('_id'))])];
  const spoken = ['text', 'task'].filter((field) => field in properties);
  return {
    names: NAMES[operation.name] ?? [usualName(operation.name)],
    ...{ operation, properties, required },
    positional: [...about, ...spoken],
    otherFlags: OTHER_FLAGS[operation.name] ?? {},
  };
}

function usualName(name: string): string {
  const [verb = '', ...noun] = name.split('_');
  return `${noun.join('-').replace(/s$/, '')} ${kebab(verb)}`;
}

/** `sessions list` is `session list`: both are written. */
export function isNamed(command: { readonly names: readonly string[] }, words: string): boolean {
  return command.names.some((name) => singular(name) === singular(words));
}

function singular(name: string): string {
  const [group = '', ...rest] = name.split(' ');
  return [group.replace(/s$/, ''), ...rest].join(' ');
}

/** Every field as a flag; one that takes several may be repeated, and is called by its singular too. */
export function flagsOf({ properties, otherFlags }: OperationCommand): FlagTable {
  const flags: FlagTable = {};
  for (const flag of Object.keys(otherFlags)) flags[flag] = { type: 'string' };
  for (const [field, property] of Object.entries(properties)) {
    const several = isList(property) || isRecord(property) || hasList(properties, field);
    flags[kebab(field)] = { type: isSwitch(property) ? 'boolean' : 'string', multiple: several };
    if (isList(property)) flags[singularFlag(field)] = { type: 'string', multiple: true };
  }
  return flags;
}

/** One may be given where several can be: `--provider` is `provider`, or, with more than one, `providers`. */
export const hasList = (properties: OperationCommand['properties'], field: string): boolean =>
  properties[`${field}s`]?.type === 'array';
export const singularFlag = (field: string): string => kebab(field).replace(/s$/, '');
