import { TERMINAL_EVENTS } from '../../core/state/fold-run.js';
import { isTerminalRun, RUN_STATES, TERMINAL_RUN_STATES } from '../../core/state/states.js';
import type { Gateway } from './gateway.js';

type Labels = Readonly<Record<string, string | number>>;

const RUN_BUCKETS_S = [1, 5, 15, 60, 300, 900, 3_600];
const REQUEST_BUCKETS_S = [0.005, 0.025, 0.1, 0.5, 2.5, 10, 60];

/** What Prometheus asks for, in its text format. Durations and tokens are counted from the start of this daemon on. */
export interface Metrics {
  request(labels: { method: string; route: string; status: number }, seconds: number): void;
  text(): string;
  close(): void;
}

export function createMetrics(gateway: Gateway): Metrics {
  const { store, slots, clock, settings } = gateway;
  const runs = new Histogram(RUN_BUCKETS_S);
  const requests = new Histogram(REQUEST_BUCKETS_S);
  const tokens = { input: 0, output: 0 };
  const close = store.subscribe(store.head(), (event) => {
    if (event.seq === null) return;
    if (event.type === 'usage.reported') {
      tokens.input += event.data.input_tokens ?? 0;
      tokens.output += event.data.output_tokens ?? 0;
    }
    const run = event.type in TERMINAL_EVENTS ? store.run(event.run_id ?? '') : null;
    if (run !== null && run.started_at !== null && run.ended_at !== null)
      runs.observe({}, (Date.parse(run.ended_at) - Date.parse(run.started_at)) / 1_000);
  });
  return {
    close,
    request: (labels, seconds) => requests.observe(labels, seconds),
    text() {
      const counts = store.runCounts();
      const [busy, uptime] = [slots.running.length, (clock.now() - Date.parse(settings.startedAt)) / 1_000];
      const idle = gateway.isDraining ? 0 : Math.max(0, slots.size - busy);
      const open = RUN_STATES.filter((state) => !isTerminalRun(state));
      const byState = (states: readonly (keyof typeof counts)[]) =>
        states.map((state): [Labels, number] => [{ state }, counts[state] ?? 0]);
      return [
        ...family('runs_total', 'counter', 'Runs that are over.', byState(TERMINAL_RUN_STATES)),
        ...family('queue_depth', 'gauge', 'Runs that are not over.', byState(open)),
        ...family('workers', 'gauge', 'Places of the pool.', [
          [{ state: 'busy' }, busy],
          [{ state: 'idle' }, idle],
        ]),
        ...family('tokens_total', 'counter', 'What agents reported to have used.', [
          [{ direction: 'input' }, tokens.input],
          [{ direction: 'output' }, tokens.output],
        ]),
        ...family('events_total', 'counter', 'Events in the log.', [[{}, store.head()]]),
        ...family('uptime_seconds', 'gauge', 'Since the daemon began.', [[{}, Math.floor(uptime)]]),
        ...runs.lines('run_duration_seconds', 'From the start of a run to its end.'),
        ...requests.lines('http_request_duration_seconds', 'From a request to the end of its answer.'),
        '',
      ].join('\n');
    },
  };
}

function head(name: string, type: string, help: string): string[] {
  return [`# HELP agentorchestr_${name} ${help}`, `# TYPE agentorchestr_${name} ${type}`];
}

function family(
  name: string,
  type: 'counter' | 'gauge',
  help: string,
  samples: readonly [Labels, number][],
): string[] {
  return [...head(name, type, help), ...samples.map(([labels, value]) => sample(name, labels, value))];
}

function sample(name: string, labels: Labels, value: number): string {
  const escaped = (text: string) =>
    text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n');
  const list = Object.entries(labels).map(([label, of]) => `${label}="${escaped(String(of))}"`);
  return `agentorchestr_${name}${list.length === 0 ? '' : `{${list.join(',')}}`} ${value}`;
}

class Histogram {
  readonly #buckets: readonly number[];
  readonly #series = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();

  constructor(buckets: readonly number[]) {
    this.#buckets = buckets;
  }

  observe(labels: Labels, value: number): void {
    const key = JSON.stringify(labels);
    const counts = this.#buckets.map(() => 0);
    const series = this.#series.get(key) ?? { labels, counts, sum: 0, count: 0 };
    this.#series.set(key, series);
    this.#buckets.forEach((most, index) => {
      if (value <= most) series.counts[index] = (series.counts[index] ?? 0) + 1;
    });
    series.sum += value;
    series.count += 1;
  }

  lines(name: string, help: string): string[] {
    const series = [...this.#series.values()].flatMap(({ labels, counts, sum, count }) => [
      ...this.#buckets.map((le, index) => sample(`${name}_bucket`, { ...labels, le }, counts[index] ?? 0)),
      sample(`${name}_bucket`, { ...labels, le: '+Inf' }, count),
      sample(`${name}_sum`, labels, sum),
      sample(`${name}_count`, labels, count),
    ]);
    return [...head(name, 'histogram', help), ...series];
  }
}
