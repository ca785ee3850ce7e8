import { OrchestratorError } from '../../core/errors/error.js';
import type { ControlClient } from './types.js';
import type { ProcessRef } from '../../platform/process-tree.js';
import { parseStartCommand } from '../../platform/launch/launcher.js';

/** One pane as `list-panes` shows it, with what we noted on it. */
export interface PaneRow {
  readonly paneId: string;
  readonly windowId: string;
  /** 1 for the first of our windows; null for a window that a person made. */
  readonly windowNumber: number | null;
  readonly columns: number;
  readonly rows: number;
  readonly dead: boolean;
  /** What tmux knows of the end; null where it lost it, as it often does. */
  readonly deadStatus: number | null;
  readonly pid: number;
  readonly workerId: string | null;
  readonly attemptId: string | null;
  readonly process: ProcessRef | null;
  readonly directory: string | null;
}

// Numbers and ids first, free text last, blanks between: other separators come back as `_` in some locales.
const ROW = [
  'pane=#{pane_id}',
  'window=#{window_id}',
  'size=#{window_width}x#{window_height}',
  'number=#{@ao_number}',
  'dead=#{pane_dead}',
  'status=#{pane_dead_status}',
  'signal=#{pane_dead_signal}',
  'pid=#{pane_pid}',
  'worker=#{@ao_worker}',
  'attempt=#{@ao_attempt}',
  'process=#{@ao_process}',
  'start=#{pane_start_command}',
].join(' ');

/** The panes of one session, by window, in their order in it. */
export async function listPanes(client: ControlClient, sessionId: string): Promise<readonly PaneRow[]> {
  return (await client.command('list-panes', '-s', '-t', sessionId, '-F', ROW)).flatMap(
    (line) => parseRow(line) ?? [],
  );
}

/** One of them; null where it is gone. To look at each of many in the list of all would take the square of their number. */
export async function findPane(client: ControlClient, paneId: string): Promise<PaneRow | null> {
  try {
    const [line = ''] = await client.command('display-message', '-p', '-t', paneId, ROW);
    return parseRow(line);
  } catch (error) {
    if (error instanceof OrchestratorError && /can't find pane/.test(String(error.params['problem'])))
      return null;
    throw error;
  }
}

/** Notes on the pane what a later supervisor must know to take its agent over. */
export function markPane(
  client: ControlClient,
  paneId: string,
  worker: { workerId: string; attemptId: string; process?: ProcessRef },
): Promise<unknown> {
  const { process } = worker;
  const value = process === undefined ? '' : `${process.pid}:${encodeURIComponent(process.pidStartedAt)}`;
  const set = (name: string, text: string) => client.command('set-option', '-p', '-t', paneId, name, text);
  return Promise.all([
    set('@ao_worker', worker.workerId),
    set('@ao_attempt', worker.attemptId),
    set('@ao_process', value),
  ]);
}

function parseRow(line: string): PaneRow | null {
  const split = line.indexOf(' start=');
  const fields = new Map(
    line
      .slice(0, split)
      .split(' ')
      .map((word) => [word.slice(0, word.indexOf('=')), word.slice(word.indexOf('=') + 1)]),
  );
  const text = (name: string) => fields.get(name) || null;
  const number = (name: string) => (text(name) === null ? null : Number(text(name)));
  const paneId = text('pane');
  const windowId = text('window');
  if (paneId === null || windowId === null) return null;
  const started = parseStartCommand(line.slice(split + ' start='.length));
  const noted = text('attempt');
  const signal = number('signal');
  const [columns = 0, rows = 0] = (text('size') ?? '').split('x').map(Number);
  return {
    paneId,
    windowId,
    windowNumber: number('number'),
    columns,
    rows,
    dead: text('dead') === '1',
    deadStatus: signal === null ? number('status') : 128 + signal,
    pid: number('pid') ?? 0,
    workerId: text('worker') ?? started?.workerId ?? null,
    // What it runs is truer than what was noted on it: a pane can be given a new program and nobody lived to note it.
    attemptId: started?.attemptId ?? text('attempt'),
    process:
      noted === null || started === null || noted === started.attemptId
        ? parseProcess(text('process'))
        : null,
    directory: started?.directory ?? null,
  };
}

function parseProcess(text: string | null): ProcessRef | null {
  const match = /^(\d+):(.+)$/.exec(text ?? '');
  return match === null ? null : { pid: Number(match[1]), pidStartedAt: decodeURIComponent(match[2] ?? '') };
}
