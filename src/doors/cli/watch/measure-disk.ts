import type { DiskReport } from '../../../services/supervise/session-report.js';
import type { CliHost } from '../host.js';

const LEAST_BETWEEN_MS = 60_000;
/** Of the time that passes, the part that may go into measuring. */
const SHARE = 20;

export interface DiskMeter {
  readonly latest: DiskReport | null;
  /** Measures beside everything else when the last time is long ago; calls `onMeasured` then. */
  tick(): void;
}

export function createDiskMeter(
  host: Pick<CliHost, 'report' | 'now'>,
  sessionId: string,
  onMeasured: () => void,
): DiskMeter {
  let latest: DiskReport | null = null;
  let isMeasuring = false;
  let dueAt = 0;
  const measure = async () => {
    const began = host.now();
    latest = (await host.report(sessionId, { diskUse: true })).disk;
    const ended = host.now();
    dueAt = ended + Math.max(LEAST_BETWEEN_MS, SHARE * (ended - began));
    onMeasured();
  };
  return {
    get latest() {
      return latest;
    },
    tick() {
      if (isMeasuring || host.now() < dueAt) return;
      isMeasuring = true;
      // Folders that vanish meanwhile are no reason to end a watch.
      void measure()
        .catch(() => undefined)
        .finally(() => (isMeasuring = false));
    },
  };
}
