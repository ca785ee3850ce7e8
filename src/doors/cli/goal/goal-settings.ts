import { resolve } from 'node:path';
import { loadLayers, resolveAll, resolveSetting, type Layer, type Resolved } from '../../../config/load.js';
import { OrchestratorError } from '../../../core/errors/error.js';
import { resolvePaths } from '../../../platform/paths.js';
import type { SessionPlanInput } from '../../../services/supervise/plan.js';
import type { CliHost } from '../host.js';
import type { Parsed } from '../parse.js';
import { expandHome } from './agent-options.js';
import { flagLayer } from './flag-settings.js';

/** What holds for this goal, wherever it was set. */
export interface GoalSettings {
  readonly all: readonly Resolved[];
  get(key: string): Resolved;
  isOn(key: string): boolean;
  text(key: string): string | null;
  texts(key: string): readonly string[] | null;
}

/** Files, environment and flags together. Throws SETTINGS_INVALID, USAGE. */
export async function readGoalSettings(
  parsed: Parsed,
  host: Pick<CliHost, 'env'>,
  project: string,
): Promise<GoalSettings> {
  const flags = flagLayer(parsed);
  const { config } = resolvePaths(host.env);
  return settingsOf([...(await loadLayers({ config, project, env: host.env })), flags]);
}

function settingsOf(layers: readonly Layer[]): GoalSettings {
  const get = (key: string) => resolveSetting(layers, key);
  return {
    all: resolveAll(layers),
    get,
    isOn: (key) => get(key).value === true,
    text: (key) => get(key).value as string | null,
    texts: (key) => get(key).value as readonly string[] | null,
  };
}

/** Only what was set: the plan has its own defaults. */
export function limitsOf(settings: GoalSettings): NonNullable<SessionPlanInput['limits']> {
  const limits = settings.all
    .filter(({ key, origin }) => key.startsWith('limits.') && origin.from !== 'default')
    .map(({ key, value }) => [key.slice('limits.'.length), value]);
  return Object.fromEntries(limits) as NonNullable<SessionPlanInput['limits']>;
}

/** Of a project that would raise what the person has set. */
export function refusedWarnings(settings: GoalSettings): readonly string[] {
  return settings.all.flatMap(({ key, value, refused }) =>
    refused.map(
      (given) =>
        `${key} = ${String(given.value)} (${given.origin.where}) is not used: a project may only lower a limit, and yours is ${String(value)}`,
    ),
  );
}

const RANK: readonly string[] = ['default', 'user', 'project', 'environment', 'flag'];

/** Who may lead and work. Set in two places, a lead and a list without it do not contradict: the weaker gives way. */
export function wishesOf(settings: GoalSettings): {
  names: readonly string[] | null;
  lead: string | null;
  warnings: readonly string[];
} {
  const [names, lead] = [settings.texts('agents'), settings.text('lead')];
  if (names === null || lead === null || names.includes(lead)) return { names, lead, warnings: [] };
  const [list, one] = [settings.get('agents').origin, settings.get('lead').origin];
  const difference = RANK.indexOf(list.from) - RANK.indexOf(one.from);
  if (difference === 0) return { names, lead, warnings: [] };
  return difference > 0
    ? {
        names,
        lead: null,
        warnings: [`lead "${lead}" (${one.where}) is not used: ${list.where} leaves it out`],
      }
    : { names: null, lead, warnings: [`agents (${list.where}) is not used: ${one.where} asks for ${lead}`] };
}

/** The folder that the goal is for. Throws USAGE. */
export function projectFolder(parsed: Parsed, host: Pick<CliHost, 'env'>): string {
  const given = parsed.text('project');
  if (given?.trim() === '')
    throw new OrchestratorError('USAGE', {
      problem: '--project is empty',
      hint: 'name the folder of the project',
    });
  return resolve(expandHome(given ?? '.', host.env));
}
