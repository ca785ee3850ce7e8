import type { SessionReport } from '../../../services/supervise/session-report.js';
import type { CliHost } from '../host.js';
import { liveFrame } from '../output/live-frame.js';
import { createPaint } from '../output/paint.js';
import { openLiveScreen } from './live-screen.js';

/** Where changes of a session are shown. */
export interface StatusView {
  show(report: SessionReport, at: string): void;
  close(): void;
}

export type ViewKind = 'json' | 'blocks' | 'screen';

export function viewKind({ terminal, env }: CliHost, { json }: { json: boolean }): ViewKind {
  if (json) return 'json';
  return terminal.stdoutIsTty && env['TERM'] !== 'dumb' ? 'screen' : 'blocks';
}

/** One object per line. */
export function jsonView({ terminal }: CliHost): StatusView {
  const isNew = changes();
  return {
    show(report) {
      const line = JSON.stringify(report);
      if (isNew(line)) terminal.out(`${line}\n`);
    },
    close: () => undefined,
  };
}

/** One block of lines per change, an empty line between them. */
export function blocksView({ terminal, env }: CliHost): StatusView {
  const isNew = changes();
  const paint = createPaint(terminal, env, 'stdout');
  let gap = '';
  return {
    show(report, at) {
      if (!isNew(frame(report, ''))) return;
      terminal.out(`${gap}${frame(report, at)}\n`);
      gap = '\n';
    },
    close: () => undefined,
  };
  function frame(report: SessionReport, at: string): string {
    return liveFrame(report, at, { paint, terminal: null, footer: [] }).join('\n');
  }
}

/** Always the same place of a terminal, whatever size it is given; `q` and Ctrl-C leave. */
export function screenView(
  host: CliHost,
  options: { footer: readonly string[]; leave: () => void },
): StatusView {
  const { terminal, env } = host;
  const paint = createPaint(terminal, env, 'stdout');
  const isNew = changes();
  let last: { report: SessionReport; at: string } | null = null;
  const screen = openLiveScreen(terminal);
  const draw = () => {
    if (last === null) return;
    const size = { columns: terminal.columns, rows: terminal.rows - 1 };
    screen.draw(liveFrame(last.report, last.at, { paint, terminal: size, footer: options.footer }));
  };
  const release = [
    terminal.onResize(draw),
    terminal.onKey((key) => {
      if (/[qQ\u0003\u0004]/.test(key)) options.leave();
    }),
  ];
  return {
    show(report, at) {
      if (!isNew(JSON.stringify(report))) return;
      last = { report, at };
      draw();
    },
    close() {
      for (const end of release) end();
      screen.close();
    },
  };
}

/** true for a text that is not the one before. */
function changes(): (text: string) => boolean {
  let before: string | null = null;
  return (text) => {
    const isNew = text !== before;
    before = text;
    return isNew;
  };
}
