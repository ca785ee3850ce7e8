import { layoutString, roomierSize, type WindowSize } from './layout.js';
import { listPanes, type PaneRow } from './panes.js';
import { groupsFor, windowName, type Group } from './placement.js';
import type { ControlClient } from './types.js';

export interface ReflowOptions {
  readonly client: ControlClient;
  /** `$n` */
  readonly target: string;
  readonly size: WindowSize;
}

/**
 * Gives all our windows this size and spreads their panes over them anew; programs run on in their panes. Windows that
 * a person made stay as they are. Must not overlap with the making of panes. Whenever tmux looks at the sizes of panes,
 * none is below the minimum: what makes one too small for a moment is sent in one go with what makes it larger.
 */
export async function reflowPanes(options: ReflowOptions): Promise<{ windows: number }> {
  const { client, target, size } = options;
  const panes = await listPanes(client, target);
  const [looked = ''] = await client.command('display-message', '-p', '-t', target, '#{pane_id}');
  const groups = groupsFor(panes, size);
  const windows = await gather(client, groups, size);
  for (const [index, group] of groups.entries())
    await settle(client, { group, windowId: windows[index] ?? '', size });
  if (panes.every((pane) => pane.windowNumber !== null))
    await client.command('move-window', '-r', '-t', target);
  await lookAt(client, looked);
  return { windows: groups.length };
}

/** The window of each worker, as `StartedAgent.window` names it; of the latest attempt where there were several. */
export function placesOf(panes: readonly PaneRow[]): { workerId: string; window: string }[] {
  const places = new Map<string, string>();
  for (const { workerId, attemptId, windowNumber } of panes)
    if (workerId !== null && attemptId !== null) places.set(workerId, windowName(windowNumber ?? 0));
  return [...places].map(([workerId, window]) => ({ workerId, window }));
}

/** Brings every group together in one window, the windows in their order. Returns their ids. */
async function gather(
  client: ControlClient,
  groups: readonly Group[],
  size: WindowSize,
): Promise<readonly string[]> {
  const windowOf = new Map(
    groups.flatMap(({ panes }) => panes.map(({ paneId, windowId }) => [paneId, windowId])),
  );
  const gathered: string[] = [];
  for (const { number, panes } of groups) {
    const [first, ...others] = panes;
    if (first === undefined) continue;
    const inPlace = windowOf.get(first.paneId) ?? '';
    const before = gathered.at(-1);
    const windowId =
      before === undefined || !gathered.includes(inPlace)
        ? inPlace
        : await breakOut(client, first.paneId, { after: before, name: windowName(number), size });
    gathered.push(windowId);
    const here = panes.filter((pane) => pane === first || windowOf.get(pane.paneId) === windowId);
    const coming = others.filter((pane) => !here.includes(pane));
    for (const pane of [first, ...coming]) windowOf.set(pane.paneId, windowId);
    if (coming.length > 0) await join(client, { windowId, here, coming, size, withLead: number === 1 });
  }
  return gathered;
}

/** Into a window of its own. */
async function breakOut(
  client: ControlClient,
  paneId: string,
  place: { after: string; name: string; size: WindowSize },
): Promise<string> {
  const { after, name, size } = place;
  const print = ['-P', '-F', '#{window_id}'];
  const broken = client.command('break-pane', '-d', '-a', '-s', paneId, '-t', after, '-n', name, ...print);
  // At once: until it has a size of its own the window follows that of some terminal.
  await Promise.all([broken, resize(client, paneId, size)]);
  return (await broken)[0] ?? '';
}

/**
 * A window gets panes only once all that do not stay in it have left: a group is a run of neighbours. One by one:
 * tmux 3.3a crashes when the last two panes of a window leave it in one go and the first of them was the active one
 * (it then tells of a new active pane that is there no more).
 */
async function join(
  client: ControlClient,
  joining: {
    windowId: string;
    here: readonly PaneRow[];
    coming: readonly PaneRow[];
    size: WindowSize;
    withLead: boolean;
  },
): Promise<void> {
  const { windowId, coming, size, withLead } = joining;
  const here = [...joining.here];
  for (const pane of coming) {
    const beside = here.at(-1)?.paneId ?? '';
    here.push(pane);
    await Promise.all([
      resize(client, windowId, size),
      client.command('join-pane', '-d', '-s', pane.paneId, '-t', beside),
      layOut(client, windowId, { count: here.length, size, withLead }),
    ]);
  }
}

async function settle(
  client: ControlClient,
  settling: { group: Group; windowId: string; size: WindowSize },
): Promise<void> {
  const { group, windowId, size } = settling;
  const { number, panes } = group;
  const layout = { count: panes.length, size, withLead: number === 1 };
  const before = panes.find((pane) => pane.windowId === windowId);
  const hadSize = before?.columns === size.columns && before.rows === size.rows;
  await Promise.all([
    hadSize ? select(client, windowId, layout) : layOut(client, windowId, layout),
    ...(panes[0]?.windowId === windowId && panes[0].windowNumber === number
      ? []
      : [
          client.command('rename-window', '-t', windowId, windowName(number)),
          client.command('set-option', '-w', '-t', windowId, '@ao_number', String(number)),
        ]),
  ]);
}

interface Layout {
  readonly count: number;
  readonly size: WindowSize;
  readonly withLead: boolean;
}

/**
 * Of the sizes that a pane goes through in one go, tmux tells its program the last; where that is the one that it had,
 * it tells the last but one as well. So that one is a good one, too: the same layout, each pane a line larger.
 */
function layOut(client: ControlClient, windowId: string, layout: Layout): Promise<unknown> {
  const room = roomierSize(layout.count, layout.size, layout.withLead);
  return Promise.all([
    resize(client, windowId, room),
    select(client, windowId, layout, room),
    resize(client, windowId, layout.size),
    select(client, windowId, layout),
  ]);
}

function select(
  client: ControlClient,
  windowId: string,
  { count, size, withLead }: Layout,
  room: WindowSize = size,
): Promise<unknown> {
  const layout = layoutString(count, room, withLead, size);
  return client.command('select-layout', '-t', windowId, layout);
}

/** Whoever looks at the session goes on looking at the same pane. */
async function lookAt(client: ControlClient, paneId: string): Promise<void> {
  const looking = ['select-window', 'select-pane'].map((command) => client.command(command, '-t', paneId));
  await Promise.allSettled(looking);
}

function resize(client: ControlClient, target: string, size: WindowSize): Promise<unknown> {
  const { columns, rows } = size;
  return client.command('resize-window', '-t', target, '-x', String(columns), '-y', String(rows));
}
