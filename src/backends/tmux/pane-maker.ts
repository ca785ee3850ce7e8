import { LEAD_ID } from '../../core/ids.js';
import { OrchestratorError } from '../../core/errors/error.js';
import { writeFileAtomic } from '../../platform/files.js';
import { processRef, type ProcessRef } from '../../platform/process-tree.js';
import type { Logger } from '../../platform/logger.js';
import type { StartSpec } from '../contract.js';
import { ATTEMPT_VARIABLE } from '../../platform/launch/launcher.js';
import { setLabel } from './labels.js';
import { layoutString, type WindowSize } from './layout.js';
import { listPanes, markPane, type PaneRow } from './panes.js';
import { placeForLead, placeForOnly, placeForWorker, sizeOf, windowName, type Place } from './placement.js';
import { PLACEHOLDER } from './session.js';
import { capturePane } from './text.js';
import type { ControlClient } from './types.js';

export interface MadePane {
  readonly paneId: string;
  readonly windowId: string;
  readonly window: string;
  readonly launcher: ProcessRef | null;
}

export interface PaneMakerOptions {
  readonly client: ControlClient;
  /** `$n` */
  readonly target: string;
  readonly size: WindowSize;
  /** false: the first place is nobody's. */
  readonly hasLead: boolean;
  readonly logger: Logger;
  /** The file for the text of an ended agent's pane that is about to go; null: the pane may not go. */
  readonly textFileOf: (pane: PaneRow) => string | null;
  readonly onTextSaved: (pane: PaneRow, file: string) => Promise<void>;
}

/** Makes the pane of an agent and starts its script in it. Calls must not overlap: they decide by what tmux shows now. */
export async function makePane(
  options: PaneMakerOptions,
  spec: StartSpec,
  script: string,
): Promise<MadePane> {
  const { client, target } = options;
  const panes = await listPanes(client, target);
  const place = placeFor(options, spec, panes);
  const going = place.kind === 'respawn' ? place.pane : place.kind === 'split' ? place.replaces : null;
  if (going !== null && going.attemptId !== null && options.textFileOf(going) === null)
    throw inUse(spec, going);
  if (going !== null) await saveText(options, going);
  const made = await startIn(options, { place, panes }, [
    '-c',
    spec.cwd,
    '-e',
    `${ATTEMPT_VARIABLE}=${spec.attemptId}`,
    '/bin/sh',
    script,
  ]);
  await Promise.all([
    markPane(client, made.paneId, spec),
    setLabel(client, made.paneId, { text: spec.label }),
  ]);
  return made;
}

function placeFor(options: PaneMakerOptions, { role }: StartSpec, panes: readonly PaneRow[]): Place {
  if (role === 'lead') return placeForLead(panes);
  const isReusable = (pane: PaneRow) => options.textFileOf(pane) !== null;
  return options.hasLead ? placeForWorker(panes, isReusable) : placeForOnly(panes, isReusable);
}

/** Undoes `makePane` for an agent that did not start: its pane goes, a lead's place gets its placeholder back. */
export async function unmakePane(options: PaneMakerOptions, spec: StartSpec, made: MadePane): Promise<void> {
  const { client } = options;
  const window = (await listPanes(client, options.target)).filter((pane) => pane.windowId === made.windowId);
  const isFirst = window[0]?.paneId === made.paneId && window[0].windowNumber === 1;
  if (isFirst && (spec.role === 'lead' || !options.hasLead)) {
    await client.command('respawn-pane', '-k', '-t', made.paneId, ...PLACEHOLDER);
    await client.command('clear-history', '-t', made.paneId);
    await Promise.all([
      markPane(client, made.paneId, { workerId: LEAD_ID, attemptId: '' }),
      setLabel(client, made.paneId, { text: '' }),
    ]);
    return;
  }
  await client.command('kill-pane', '-t', made.paneId);
  const [rest] = window.filter((pane) => pane.paneId !== made.paneId);
  if (rest !== undefined) await arrange(options, rest, window.length - 1);
}

interface Situation {
  readonly place: Place;
  /** What was there when the place was chosen. */
  readonly panes: readonly PaneRow[];
}

async function startIn(
  options: PaneMakerOptions,
  { place, panes }: Situation,
  command: readonly string[],
): Promise<MadePane> {
  const { client, target } = options;
  const print = ['-P', '-F', '#{pane_id} #{window_id} #{pane_pid}'];
  switch (place.kind) {
    case 'respawn': {
      const { paneId } = place.pane;
      const respawned = client.command('respawn-pane', '-k', '-t', paneId, ...command);
      const cleared = client.command('clear-history', '-t', paneId);
      const answer = client.command('display-message', '-p', '-t', paneId, print[2] ?? '');
      await Promise.all([respawned, cleared]);
      return parseMade(await answer, place.pane.windowNumber);
    }
    case 'split': {
      // Made where there is room: a program may look at its size before tmux has made it the right one.
      const { beside, before, replaces } = place;
      const answer = await client.command('new-window', '-d', '-t', `${target}:`, ...print, ...command);
      const made = { ...parseMade(answer, beside.windowNumber), windowId: beside.windowId };
      const others = panes.filter((pane) => pane.windowId === beside.windowId && pane !== replaces);
      // Sent in one go, so that the programs never see the sizes in between.
      const side = before ? ['-b'] : [];
      const joined = client.command('join-pane', '-d', ...side, '-s', made.paneId, '-t', beside.paneId);
      const replaced = replaces === null ? null : client.command('kill-pane', '-t', replaces.paneId);
      const arranged = arrange(options, beside, others.length + 1);
      await joined.catch(async (error: unknown) => {
        await client.command('kill-pane', '-t', made.paneId).catch(() => undefined);
        throw error;
      });
      await Promise.all([replaced, arranged]);
      return made;
    }
    case 'window': {
      const answer = await client.command(
        'new-window',
        '-d',
        '-n',
        windowName(place.number),
        '-t',
        `${target}:`,
        ...print,
        ...command,
      );
      const made = parseMade(answer, place.number);
      const { columns, rows } = options.size;
      await Promise.all([
        client.command('resize-window', '-t', made.windowId, '-x', String(columns), '-y', String(rows)),
        client.command('set-option', '-w', '-t', made.windowId, '@ao_number', String(place.number)),
      ]);
      return made;
    }
  }
}

/** Lays the panes of one of our windows out. A window that a person changed too much stays as it is. */
async function arrange(options: PaneMakerOptions, pane: PaneRow, count: number): Promise<void> {
  const layout = layoutString(count, sizeOf(pane), pane.windowNumber === 1);
  await options.client
    .command('select-layout', '-t', pane.windowId, layout)
    .catch((error: unknown) =>
      options.logger.warn(
        { window: pane.windowId, error: String(error) },
        'the window could not be laid out',
      ),
    );
}

function inUse(spec: StartSpec, pane: PaneRow): OrchestratorError {
  const problem = `its pane ${pane.paneId} still runs attempt ${pane.attemptId}`;
  return new OrchestratorError('SPAWN_FAILED', { worker: spec.workerId, problem });
}

async function saveText(options: PaneMakerOptions, pane: PaneRow): Promise<void> {
  const file = options.textFileOf(pane);
  if (file === null) return;
  await writeFileAtomic(file, `${(await capturePane(options.client, pane.paneId, 'all')).join('\n')}\n`);
  await options.onTextSaved(pane, file);
}

function parseMade(answer: readonly string[], windowNumber: number | null): MadePane {
  const [paneId = '', windowId = '', pid = ''] = (answer[0] ?? '').split(' ');
  if (!paneId.startsWith('%')) throw new Error(`tmux answered no pane id: ${answer.join(' ')}`);
  return { paneId, windowId, window: windowName(windowNumber ?? 0), launcher: processRef(Number(pid)) };
}
