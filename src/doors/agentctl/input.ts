import { isList, isNumber, isRecord, isSwitch, kebab, type Property } from '../shared/projection.js';
import { queryOf } from '../shared/query.js';
import { usage, type Given } from './arguments.js';
import { flagsOf, hasList, singularFlag, type OperationCommand } from './commands.js';
import type { AgentctlHost, DaemonRequest, Environment } from './host.js';

type Input = Record<string, unknown>;

/** Inside an agent these say which session and run are its own. */
const OWN: Readonly<Record<string, readonly string[]>> = {
  session_id: ['AGENTORCHESTR_SESSION_ID', 'AGENTORCHESTR_SESSION'],
  run_id: ['AGENTORCHESTR_RUN_ID'],
  parent_run_id: ['AGENTORCHESTR_RUN_ID'],
};

/** The input as the daemon takes it; what is wrong in a value the daemon says. Throws USAGE. */
export async function readInput(
  command: OperationCommand,
  given: Given,
  host: Pick<AgentctlHost, 'env' | 'readStdin'>,
): Promise<Input> {
  const input: Input = {};
  for (const field of Object.keys(command.properties)) {
    const value = givenFor(command, field, given) ?? byOtherFlag(command, field, given);
    if (value !== undefined) input[field] = value;
  }
  takePositionals(command, given, { input, env: host.env });
  for (const field of command.required) {
    const own = input[field] === undefined ? ownOf(command, field, host.env) : undefined;
    if (own !== undefined) input[field] = own;
  }
  for (const field of command.required)
    if (input[field] === undefined)
      throw usage(`--${kebab(field)} is missing`, `write ${usageLine(command)}`);
  for (const field of ['text', 'task']) if (input[field] === '-') input[field] = await host.readStdin();
  return input;
}

/** `agentctl run wait RUN_ID`, as it is written with the least. */
export function usageLine({ names, positional, required }: OperationCommand): string {
  const more = required.filter((field) => !positional.includes(field));
  const flags = more.map((field) => ` --${kebab(field)} …`).join('');
  return `agentctl ${names[0]}${positional.map((field) => ` ${field.toUpperCase()}`).join('')}${flags}`;
}

/** `/runs/{run_id}` and the input: path and query, or path and body. */
export function requestOf({ operation }: OperationCommand, input: Input): DaemonRequest {
  const { method, path } = operation.address;
  const rest = { ...input };
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    delete rest[field];
    return encodeURIComponent(String(input[field]));
  });
  if (method === 'GET') return { method, path: filled + queryOf(rest) };
  return { method, path: filled, ...(Object.keys(rest).length === 0 ? {} : { body: rest }) };
}

/** One `--provider` is `provider`; several are `providers`, which may be given by a flag of that name as well. */
function givenFor({ properties }: OperationCommand, field: string, given: Given): unknown {
  const property = properties[field];
  if (property === undefined) return undefined;
  const hasOne = isList(property) && field.replace(/s$/, '') in properties;
  if (!hasOne && !hasList(properties, field)) return valueOf(field, property, given);
  const ones = listed(given.values[hasOne ? singularFlag(field) : kebab(field)]);
  if (!hasOne) return ones.length === 1 ? ones[0] : undefined;
  const all = [...listed(given.values[kebab(field)]), ...(ones.length > 1 ? ones : [])];
  return all.length === 0 ? undefined : all;
}

/** Repeated, or with commas. */
function listed(value: Given['values'][string]): string[] {
  return [value ?? []].flat().flatMap((one) => String(one).split(','));
}

function valueOf(field: string, property: Property, { values }: Given): unknown {
  const flag = kebab(field);
  if (isList(property)) {
    const all = [...listed(values[flag]), ...listed(values[singularFlag(field)])];
    return all.length === 0 ? undefined : all;
  }
  const value = values[flag];
  if (value === undefined || isSwitch(property)) return value;
  if (isRecord(property)) return recordOf(flag, [value].flat().map(String));
  const text = String(value);
  return isNumber(property) && /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

function byOtherFlag(command: OperationCommand, field: string, given: Given): unknown {
  const [flag] = Object.entries(command.otherFlags).find(([, meant]) => meant === field) ?? [];
  const property = command.properties[field];
  if (flag === undefined || property === undefined) return undefined;
  return valueOf(field, property, { ...given, values: { [kebab(field)]: given.values[flag] } });
}

function recordOf(flag: string, given: readonly string[]): Record<string, string> {
  const record: Record<string, string> = {};
  for (const one of given) {
    const cut = one.indexOf('=');
    if (cut < 1) throw usage(`--${flag} takes KEY=VALUE, not "${one}"`, `for example --${flag} team=blue`);
    record[one.slice(0, cut)] = one.slice(cut + 1);
  }
  return record;
}

function takePositionals(
  command: OperationCommand,
  { positionals }: Given,
  { input, env }: { input: Input; env: Environment },
): void {
  const open = command.positional.filter((field) => !(field in input));
  // An agent need not say who it is.
  const unknown = open.filter((field) => ownOf(command, field, env) === undefined);
  const free = positionals.length <= unknown.length ? unknown : open;
  if (positionals.length > free.length)
    throw usage(`unexpected argument "${positionals[free.length] ?? ''}"`, hintOf(command));
  positionals.forEach((text, index) => (input[free[index] ?? ''] = text));
}

function hintOf(command: OperationCommand): string {
  const flags = Object.keys(flagsOf(command)).map((flag) => `--${flag}`);
  return `write ${usageLine(command)}${flags.length === 0 ? '' : `; flags: ${flags.join(' ')}`}`;
}

/** Nobody ends itself by leaving an id out. */
function ownOf({ operation }: OperationCommand, field: string, env: Environment): string | undefined {
  if (operation.effect === 'destroy') return undefined;
  return (OWN[field] ?? []).map((name) => env[name]).find((value) => value !== undefined && value !== '');
}
