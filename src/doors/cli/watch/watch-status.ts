import { isoTime } from '../../../core/clock.js';
import type { CliHost } from '../host.js';
import { coalesce } from './coalesce.js';
import { exitCodeOf, finish, isOver, leave, SETTLE_LIMIT_MS } from './finish.js';
import { createDiskMeter } from './measure-disk.js';
import { onInterrupt } from './on-interrupt.js';
import {
  blocksView,
  jsonView,
  screenView,
  viewKind,
  type StatusView,
  type ViewKind,
} from './status-views.js';

/**
 * Shows a session again whenever something happened in it, until it is over (then what it came to, with the exit code
 * of that) or the person leaves: the session goes on. Nothing is asked for without an event.
 */
export async function watchStatus(
  host: CliHost,
  sessionId: string,
  options: { json: boolean },
): Promise<number> {
  const kind = viewKind(host, options);
  const first = await host.report(sessionId);
  if (kind !== 'json' && isOver(first)) return finish(host, first, { json: false });
  const left = new AbortController();
  const unhook = onInterrupt(host.terminal.interrupted, () => left.abort());
  const view = await openView(host, sessionId, { kind, leave: () => left.abort() });
  try {
    await follow(host, sessionId, { view, kind, signal: left.signal });
  } finally {
    unhook();
    view.close();
  }
  const report = await host.report(sessionId);
  if (left.signal.aborted && !isOver(report)) return leave(host, sessionId);
  if (kind !== 'json') return finish(host, report, { json: false });
  view.show(report, isoTime(host));
  return exitCodeOf(report);
}

async function openView(
  host: CliHost,
  sessionId: string,
  { kind, leave: go }: { kind: ViewKind; leave: () => void },
): Promise<StatusView> {
  if (kind === 'json') return jsonView(host);
  if (kind === 'blocks') return blocksView(host);
  const panes = await host.attachCommand(sessionId);
  const key = host.terminal.stdinIsTty ? 'q' : 'Ctrl-C';
  const footer = [`${key} leaves; the session goes on`, ...(panes === null ? [] : [`panes: ${panes}`])];
  return screenView(host, { footer, leave: go });
}

/** Resolves when the session is over and its supervisor gone, or when `signal` aborts. */
async function follow(
  host: CliHost,
  sessionId: string,
  { view, kind, signal }: { view: StatusView; kind: ViewKind; signal: AbortSignal },
): Promise<void> {
  const meter = createDiskMeter(host, sessionId, () => void show());
  const show = coalesce(async () => {
    const report = await host.report(sessionId).catch(() => null);
    if (report === null || signal.aborted) return;
    view.show({ ...report, disk: meter.latest }, isoTime(host));
    if (kind === 'screen') meter.tick();
  });
  await show();
  for await (const event of host.events(sessionId, { after: 0, follow: true, signal }))
    if (event.session_id === sessionId) void show();
  await show();
  const aborted = new Promise<void>((resolve) => onInterrupt(signal, resolve));
  await Promise.race([host.settled(sessionId, SETTLE_LIMIT_MS), aborted]);
}
