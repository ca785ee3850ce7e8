import { parseArgs } from 'node:util';
import { WRITERS, type WireFormat } from './headless/writer.js';

export interface ScriptedOptions {
  readonly script: string;
  readonly role: 'lead' | 'worker';
  readonly mcpUrl: string | null;
  readonly hookUrl: string | null;
  /** Read from the environment, never from argv. */
  readonly token: string | null;
  readonly resume: string | null;
  /** The first prompt, as if a person had typed it; null: none. */
  readonly prompt: string | null;
  /** Folder of conversations; null: nothing is kept. */
  readonly state: string | null;
  /** Without a terminal: one turn, its prompt on standard input, in this wire format; null: in a terminal. */
  readonly headless: WireFormat | null;
  /** Seconds per unit of a `pause` step; 0: no pauses. */
  readonly pace: number;
}

export const USAGE = `usage: agentorchestr-scripted --script FILE [--role lead|worker] [--pace SECONDS] [--state DIR]
         [--resume ID] [--prompt TEXT] [--mcp-url URL] [--hook-url URL] [--token-env NAME]
         [--headless stream-json|thread-jsonl: one turn, its prompt on standard input]`;

const FORMATS = Object.keys(WRITERS) as WireFormat[];

/** Throws a plain Error whose message is for the person. */
export function parseOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): ScriptedOptions {
  const { values } = parseArgs({
    args: [...args],
    options: {
      script: { type: 'string' },
      role: { type: 'string', default: 'worker' },
      'mcp-url': { type: 'string' },
      'hook-url': { type: 'string' },
      'token-env': { type: 'string' },
      resume: { type: 'string' },
      prompt: { type: 'string' },
      state: { type: 'string' },
      pace: { type: 'string', default: '0' },
      headless: { type: 'string' },
    },
  });
  if (values.script === undefined)
    throw new Error(
      '--script FILE is missing: the scripted agent plays a script and has no ideas of its own',
    );
  if (values.role !== 'lead' && values.role !== 'worker')
    throw new Error(`--role is lead or worker, not "${values.role}"`);
  const pace = Number(values.pace);
  if (!Number.isFinite(pace) || pace < 0)
    throw new Error(`--pace is a number of seconds, not "${values.pace}"`);
  if (values.resume !== undefined && values.state === undefined)
    throw new Error('--resume needs --state DIR');
  const headless = FORMATS.find((format) => format === values.headless) ?? null;
  if (values.headless !== undefined && headless === null)
    throw new Error(`--headless is ${FORMATS.join(' or ')}, not "${values.headless}"`);
  const tokenVariable = values['token-env'];
  return {
    script: values.script,
    role: values.role,
    mcpUrl: values['mcp-url'] ?? null,
    hookUrl: values['hook-url'] ?? null,
    token: (tokenVariable === undefined ? undefined : env[tokenVariable]) ?? null,
    resume: values.resume ?? null,
    prompt: values.prompt ?? null,
    state: values.state ?? null,
    headless,
    pace,
  };
}
