import { stripVTControlCharacters } from 'node:util';
import type { AgentAdapter } from '../agents/contract.js';
import type { Clock } from '../core/clock.js';
import { findProgram } from '../platform/find-program.js';
import { runProcess, type ProcessResult } from '../platform/process.js';
import type { InstalledAgent } from './contract.js';

const PROBE_LIMIT_MS = 3_000;
const VERSION_CHARACTERS = 40;
const KIND_ORDER: readonly AgentAdapter['kind'][] = ['sdk', 'cli', 'ide', 'gh'];

export interface DetectOptions {
  readonly adapters: readonly AgentAdapter[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly clock: Clock;
  /** Only these; the only way to find an agent that is chosen by name alone. null: all others. */
  readonly names?: readonly string[] | null;
}

/**
 * Which agents are installed: a look along PATH and one version probe each, all at the same time, at most 3 s. Best
 * first (kind, then `orchestrate`). Uses no network. What a binary answered is remembered for this process.
 */
export async function detectInstalled(options: DetectOptions): Promise<readonly InstalledAgent[]> {
  const names = options.names ?? null;
  const wanted = options.adapters.filter((adapter) =>
    names === null ? adapter.onlyByName !== true : names.includes(adapter.name),
  );
  const found = await Promise.all(wanted.map((adapter) => detect(adapter, options)));
  return found.filter((agent) => agent !== null).toSorted(bestFirst);
}

function bestFirst(a: InstalledAgent, b: InstalledAgent): number {
  const byKind = KIND_ORDER.indexOf(a.adapter.kind) - KIND_ORDER.indexOf(b.adapter.kind);
  return byKind !== 0 ? byKind : b.adapter.scores.orchestrate - a.adapter.scores.orchestrate;
}

async function detect(adapter: AgentAdapter, options: DetectOptions): Promise<InstalledAgent | null> {
  const binary = await findProgram(adapter.binaries, options.env);
  if (binary === null) return null;
  const [proof, version] = await Promise.all([
    adapter.detectBy === undefined ? null : probe(binary, adapter.detectBy.args, options),
    probe(binary, adapter.versionArgs, options),
  ]);
  if (adapter.detectBy !== undefined && !adapter.detectBy.expect.test(proof?.stdout ?? '')) return null;
  return { adapter, binary, version: versionOf(version) };
}

const remembered = new Map<string, Promise<ProcessResult | null>>();

/** null: it took too long. */
function probe(
  binary: string,
  args: readonly string[],
  options: DetectOptions,
): Promise<ProcessResult | null> {
  const key = JSON.stringify([binary, ...args]);
  const known = remembered.get(key) ?? runProbe(binary, args, options);
  remembered.set(key, known);
  return known;
}

function runProbe(
  binary: string,
  args: readonly string[],
  { env, clock }: DetectOptions,
): Promise<ProcessResult | null> {
  // Our own script may stand where PATH has no node.
  const [file, ...rest] = binary.endsWith('.cjs') ? [process.execPath, binary, ...args] : [binary, ...args];
  const abort = new AbortController();
  return new Promise((resolve, reject) => {
    // The process's own limit is not enough: what it started may hold its output open long after it was ended.
    const cancel = clock.after(PROBE_LIMIT_MS, () => {
      abort.abort();
      resolve(null);
    });
    runProcess(file ?? binary, rest, { env, timeoutMs: PROBE_LIMIT_MS + 1_000, signal: abort.signal })
      .then(resolve, reject)
      .finally(cancel);
  });
}

function versionOf(result: ProcessResult | null): string {
  if (result === null || result.exitCode !== 0) return 'unknown';
  const lines = stripVTControlCharacters(`${result.stdout}\n${result.stderr}`).split('\n');
  const first = lines.map((line) => line.trim()).find((line) => line !== '');
  return first?.slice(0, VERSION_CHARACTERS) ?? 'unknown';
}
