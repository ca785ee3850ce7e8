import { OrchestratorError } from '../../../core/errors/error.js';
import type { Operation } from '../../../services/operation.js';
import { SESSIONS } from '../../shared/completion/offers.js';
import {
  isList,
  isNumber,
  isRecord,
  isSwitch,
  kebab,
  propertiesOf,
  type Property,
} from '../../shared/projection.js';
import { HELP_FLAG, JSON_FLAG, type Flag } from '../flags.js';
import type { Parsed } from '../parse.js';

const SESSION_FLAG: Flag = {
  name: 'session',
  kind: 'text',
  value: 'ID',
  summary: 'which session (default: the one that runs here)',
  offers: SESSIONS,
};

/** Every field of the input as a flag; positional ones may be given either way. */
export function operationFlags(operation: Operation): readonly Flag[] {
  const fields = Object.entries(propertiesOf(operation)).map(([field, property]): Flag => {
    const name = kebab(field);
    const own = (operation.fromTerminal ?? []).some((taken) => taken === field);
    const summary = `${summaryOf(property)}${own ? " (default: this terminal's)" : ''}`;
    if (isSwitch(property)) return { name, kind: 'switch', summary };
    if (isList(property))
      return { name, kind: 'texts', value: property.items?.type === 'object' ? 'JSON' : 'VALUE', summary };
    const value = property.enum?.join('|') ?? (isNumber(property) ? 'N' : 'TEXT');
    return { name, kind: 'text', value, summary };
  });
  return [...fields, SESSION_FLAG, JSON_FLAG, HELP_FLAG];
}

/** The input as the operation takes it; what is wrong in it the operation itself says. Throws USAGE. */
export function operationInput(operation: Operation, parsed: Parsed): Record<string, unknown> {
  const input: Record<string, unknown> = {};
  for (const [field, property] of Object.entries(propertiesOf(operation))) {
    const name = kebab(field);
    if (!parsed.given.includes(name)) continue;
    if (isSwitch(property)) input[field] = parsed.isOn(name);
    else if (!isList(property)) input[field] = convert(parsed.text(name) ?? '', property, name);
    else input[field] = parsed.texts(name).map((text) => convert(text, property.items ?? {}, name));
  }
  const positional = operation.positional ?? [];
  if (parsed.positionals.length > positional.length)
    throw new OrchestratorError('USAGE', {
      problem: `unexpected argument "${parsed.positionals[positional.length] ?? ''}"`,
      hint: `${kebab(operation.name)} takes ${positional.length === 0 ? 'flags only' : positional.map((field) => kebab(field).toUpperCase()).join(' ')}; quote texts with spaces`,
    });
  parsed.positionals.forEach((text, index) => {
    const field = positional[index] ?? '';
    if (field in input)
      throw new OrchestratorError('USAGE', {
        problem: `${kebab(field)} is given twice`,
        hint: `give it once, with or without --${kebab(field)}`,
      });
    input[field] = convert(text, propertiesOf(operation)[field] ?? {}, kebab(field));
  });
  return input;
}

function convert(text: string, property: Property, name: string): unknown {
  if (isRecord(property)) return parseJson(text, name);
  if (!isNumber(property) || !/^-?\d+(\.\d+)?$/.test(text)) return text;
  return Number(text);
}

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new OrchestratorError('USAGE', {
      problem: `--${name} is not JSON: ${(error as Error).message}`,
      hint: `for example --${name} '{"worker":"w01","reason":"not needed"}'`,
    });
  }
}

function summaryOf(property: Property): string {
  const shown =
    property.default === undefined || property.default === '' || JSON.stringify(property.default) === '[]'
      ? ''
      : `(default: ${typeof property.default === 'string' ? property.default : JSON.stringify(property.default)})`;
  return [property.description ?? '', isSwitch(property) ? '' : shown]
    .filter((part) => part !== '')
    .join(' ');
}
