import type { TestProject } from 'vitest/node';
import { installRealAgents } from '../../../scripts/lib/real-agents.mjs';

declare module 'vitest' {
  interface ProvidedContext {
    /** Agent name → its binary, for those that are installed. */
    realAgents: Readonly<Record<string, string>>;
  }
}

/** Installs the pinned agents. One that is missing fails the run in CI; elsewhere its tests are skipped, and why is said. */
export default async function setup(project: TestProject): Promise<void> {
  const { installed, missing } = await installRealAgents((line: string) => process.stderr.write(`${line}\n`));
  for (const [name, why] of Object.entries(missing)) {
    const line = `real agent ${name} is not there: ${why}`;
    if (process.env['CI'] !== undefined) throw new Error(line);
    process.stderr.write(`skipped: ${line}\n`);
  }
  project.provide('realAgents', installed);
}
