/** Absolute folders of one session. */
export interface SessionPlaces {
  /** Convenience folder in the temp directory (0700): prompt, progress log, per-worker private folders. */
  readonly directory: string;
  /** Survives a reboot. */
  readonly data: string;
  readonly worktrees: string;
  readonly trash: string;
  readonly imported: string;
}

export function workerDirectory(places: SessionPlaces, workerId: string): string {
  return `${places.directory}/workers/${workerId}`;
}

export function flagPath(places: SessionPlaces, workerId: string): string {
  return `${workerDirectory(places, workerId)}/done.flag`;
}
