import { afterAll, beforeAll, expect, it } from 'vitest';
import { GATEWAY_START_MS, GatewayRig } from '../../support/gateway-rig.js';

const SCRIPT = `
name: metrics
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - contains: fail
    steps: [{ fail: no such thing }]
`;

let rig: GatewayRig;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, ['--max-concurrency', '3']);
}, GATEWAY_START_MS);
afterAll(() => rig.close());

/** Name and labels → value; every line of the text has to be one of the format. */
async function read(): Promise<Map<string, number>> {
  const { status, headers, text } = await rig.get('/metrics');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; version=0.0.4; charset=utf-8']);
  const samples = new Map<string, number>();
  for (const line of text.trimEnd().split('\n')) {
    if (/^# (HELP|TYPE) agentorchestr_[a-z_]+ \S/.test(line)) continue;
    const [, name = '', value = ''] =
      /^(agentorchestr_[a-z_]+(?:\{(?:[a-z]+="[^"\n]*",?)+\})?) (-?[\d.e+-]+)$/.exec(line) ?? [];
    if (name === '' || samples.has(name)) throw new Error(`no sample, or one twice: ${line}`);
    samples.set(name, Number(value));
  }
  return samples;
}

it('metrics count what happened, and name no session, run or message', async () => {
  const before = await read();
  const session = await rig.session();
  const run = await rig.over(await rig.say(session, 'say one'));
  await rig.over(await rig.say(session, 'fail'));
  await rig.get('/sessions/0badcafe');
  // The process of a turn may outlive its last word.
  await rig.until('the end of its process', () => rig.running.gateway.slots.running.length === 0);
  const after = await read();
  const grew = (name: string) => (after.get(name) ?? 0) - (before.get(name) ?? 0);
  expect(grew('agentorchestr_runs_total{state="succeeded"}')).toBe(1);
  expect(grew('agentorchestr_runs_total{state="failed"}')).toBe(1);
  expect(grew('agentorchestr_run_duration_seconds_count')).toBe(2);
  expect(grew('agentorchestr_run_duration_seconds_bucket{le="+Inf"}')).toBe(2);
  expect(grew('agentorchestr_tokens_total{direction="output"}')).toBeGreaterThan(0);
  expect(after.get('agentorchestr_workers{state="idle"}')).toBe(3);
  expect(after.get('agentorchestr_queue_depth{state="queued"}')).toBe(0);
  const route = 'method="GET",route="/sessions/:session_id",status="404"';
  expect(grew(`agentorchestr_http_request_duration_seconds_count{${route}}`)).toBe(1);
  const text = [...after.keys()].join('\n');
  for (const id of [session, run.id, '0badcafe']) expect(text).not.toContain(id);
});

it('health and readiness tell nobody more than that', async () => {
  const health = await fetch(`${rig.running.url}/healthz`);
  const ready = await fetch(`${rig.running.url}/readyz`);
  expect([health.status, ready.status, await ready.json()]).toEqual([200, 200, { status: 'ready' }]);
  expect((await fetch(`${rig.running.url}/metrics`)).status).toBe(401);
});
