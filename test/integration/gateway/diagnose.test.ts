import { readFileSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { callGateway } from '../../../src/services/gateway/operation.js';
import { GATEWAY_OPERATIONS } from '../../../src/services/gateway/operations/index.js';
import { GATEWAY_START_MS, GatewayRig, TOKEN } from '../../support/gateway-rig.js';

const SCRIPT = `
name: diagnose
workers:
  - match: say (?<what>\\w+)
    steps: [{ say: "I say {{what}}" }]
  - match: until (?<file>\\S+)
    steps: [{ say: waiting }, { run: "until test -e {{file}}; do sleep 0.05; done" }, { say: "saw it" }]
  - contains: silence
    steps: [{ say: "no more" }, { silence: true }]
  - match: fail with (?<what>.+)
    steps: [{ fail: "{{what}}" }]
  - contains: use your tokens
    steps:
      - { run: 'printf "%s and %s" "$(cat words)" "$AGENTCTL_AUTH_TOKEN"', save: had }
      - fail: "the tokens {{had.stdout}} are no good"
`;

interface Diagnostics {
  readonly [field: string]: unknown;
  readonly active_pid: number | null;
  readonly explanation: string;
}

let rig: GatewayRig;
let go: string;
beforeAll(async () => {
  rig = await GatewayRig.start(SCRIPT, ['--max-concurrency', '1'], { linkedAgent: true });
  go = join(rig.folder, 'go');
}, GATEWAY_START_MS);
afterAll(() => rig.close());

const said = (session: string) => rig.until('its word', () => rig.types(session).includes('text.completed'));
const diagnose = async (run: string): Promise<Diagnostics> => {
  const { status, text } = await rig.get(`/runs/${run}/diagnose`);
  expect(status).toBe(200);
  return (JSON.parse(text) as { diagnostics: Diagnostics }).diagnostics;
};

/** As if so much time had gone by, and nothing else. */
const diagnoseLater = async (run: string, ms: number): Promise<Diagnostics> => {
  const { gateway } = rig.running;
  const clock = { ...gateway.clock, now: () => gateway.clock.now() + ms };
  const call = { operation: 'diagnose_run', input: { run_id: run }, signal: new AbortController().signal };
  const caller = { scope: 'client', workerId: null, name: 'test', callLimitMs: 1_000 } as const;
  const answer = await callGateway(GATEWAY_OPERATIONS, { ...gateway, clock }, { ...call, caller });
  return answer['diagnostics'] as Diagnostics;
};

describe('the diagnosis of a run', () => {
  it('[35] [36] [38] has every documented field; of one behind a full pool it is queue_backlog, with its place', async () => {
    const busy = await rig.session();
    const running = await rig.say(busy, `until ${go}-35`);
    await said(busy);
    const behind = await rig.say(busy, 'say behind');
    const others = [await rig.say(await rig.session(), 'say a'), await rig.say(await rig.session(), 'say b')];
    const found = await diagnose(others[1] ?? '');
    expect(found).toMatchObject({
      ...{ status: 'queued', worker_id: null, worker_alive: null, alive_workers: 1, busy_workers: 1 },
      ...{ max_concurrency: 1, queue_position: 3, queue_counts: { queued_count: 3, running_count: 1 } },
      ...{ active_pid: null, likely_issue: 'queue_backlog', attempts: 0, provider: 'scripted' },
      codex_invocation: { profile: null, extra_args: [] },
      invocation: { cwd: rig.work, resume: false, argv_redacted: expect.arrayContaining(['--headless']) },
    });
    expect(found.explanation).toContain('queue_position is 3');
    expect(await diagnose(others[0] ?? '')).toMatchObject({ queue_position: 2 });
    expect(await diagnose(behind)).toMatchObject({
      ...{ queue_position: 1, likely_issue: 'waiting_for_session_turn' },
    });
    const own = await diagnose(running);
    expect(own).toMatchObject({
      ...{ status: 'running', worker_id: 'worker-1', worker_alive: true, queue_position: null },
      ...{ pid_alive: true, active_pid: expect.any(Number), process_cpu_s: expect.any(Number) },
      ...{ likely_issue: 'none', exit_code: null },
      tool_calls: { total: 1, open: [{ args_preview: expect.stringContaining('until test') }] },
    });
    expect(await diagnoseLater(running, 125_000)).toMatchObject({ likely_issue: 'tool_running_long' });
    const status = JSON.parse((await rig.get('/daemon/status')).text) as Record<string, unknown>;
    expect(status).toMatchObject({
      ...{ alive_workers: 1, busy_workers: 1, oldest_queued_age_s: expect.any(Number) },
      queue_counts: { queued_count: 3, running_count: 1, cancelling_count: 0, succeeded_count: 0 },
      workers: [
        { worker_id: 'worker-1', run_id: running, restarts: 0, last_heartbeat_at: expect.any(String) },
      ],
      codex: { profile: null, extra_args: [], binary: null, version: null },
    });
    writeFileSync(`${go}-35`, '');
    for (const run of [running, behind, ...others]) await rig.over(run);
    expect(await diagnose(running)).toMatchObject({ likely_issue: 'none', active_pid: null, exit_code: 0 });
  });

  it('[37] is no_output of a silent one, and cancelled once it is', async () => {
    const session = await rig.session();
    const run = await rig.say(session, 'silence');
    await said(session);
    expect(await diagnoseLater(run, 60_000)).toMatchObject({ likely_issue: 'none' });
    expect(await diagnoseLater(run, 125_000)).toMatchObject({ likely_issue: 'no_output' });
    await rig.post(`/runs/${run}/cancel`);
    await rig.over(run);
    expect(await diagnose(run)).toMatchObject({ likely_issue: 'cancelled' });
  });

  it('[37] is process_missing while the process is gone and nobody has told of it', async () => {
    const session = await rig.session();
    const run = await rig.say(session, 'silence');
    await said(session);
    const { active_pid: pid } = await diagnose(run);
    if (pid === null) throw new Error('no process');
    const launcher = Number(
      readFileSync(`/proc/${pid}/stat`, 'utf8')
        .replace(/^.*\) . /, '')
        .split(' ')[0],
    );
    process.kill(launcher, 'SIGSTOP');
    try {
      process.kill(pid, 'SIGKILL');
      await rig.until('its end', () => !rig.running.gateway.processes.isAlive(refOf(run)));
      expect(await diagnose(run)).toMatchObject({ likely_issue: 'process_missing', pid_alive: false });
    } finally {
      process.kill(launcher, 'SIGCONT');
    }
    expect((await rig.over(run)).state).toBe('failed');
    expect(await diagnose(run)).toMatchObject({ likely_issue: 'provider_error', exit_code: 137 });
  });

  it.each([
    ['401 please run login', 'provider_auth'],
    ['429 too many requests', 'rate_limited'],
    ['the context window is full: context length exceeded', 'context_overflow'],
    ['something else', 'provider_error'],
  ])('[37] of one whose agent fails with "%s" is %s', async (words, issue) => {
    const run = await rig.say(await rig.session(), `fail with ${words}`);
    await rig.over(run);
    expect(await diagnose(run)).toMatchObject({ status: 'failed', likely_issue: issue });
  });

  it('[37] is provider_not_found where its program is gone, and awaiting_parent of one that asks', async () => {
    const parent = await rig.session();
    const above = await rig.say(parent, `until ${go}-37`);
    await said(parent);
    const child = (await rig.post(`/runs/${above}/spawn`, { task: 'silence' })).body;
    await said(child.session.id);
    await rig.post(`/runs/${child.run.id}/reply-parent`, { text: 'may I?', request_kind: 'question' });
    const asks = await diagnose(child.run.id);
    expect(asks).toMatchObject({ status: 'waiting', likely_issue: 'awaiting_parent' });
    expect(await diagnose(above)).toMatchObject({
      open_escalations: [{ kind: 'question', text: 'may I?', run_id: child.run.id }],
      children: [{ run_id: child.run.id, status: 'waiting' }],
    });
    await rig.post(`/runs/${above}/cancel`);
    await rig.over(above);

    renameSync(rig.agentProgram, `${rig.agentProgram}.away`);
    try {
      const lost = await rig.say(parent, 'say nothing');
      expect((await rig.over(lost)).state).toBe('failed');
      expect(await diagnose(lost)).toMatchObject({
        ...{ likely_issue: 'provider_not_found', invocation: { binary: null, argv_redacted: null } },
      });
      expect((await rig.post('/sessions')).body.code).toBe('NO_AGENTS');
    } finally {
      symlinkSync(`${rig.agentProgram}.away`, rig.agentProgram);
    }
  });

  it('tells no token of the daemon, nor of a run, whoever said it', async () => {
    writeFileSync(join(rig.work, 'words'), TOKEN);
    const run = await rig.say(await rig.session(), 'use your tokens');
    expect((await rig.over(run)).state).toBe('failed');
    const { explanation } = await diagnose(run);
    expect(explanation).toContain('the tokens [redacted] and [redacted] are no good');
  });

  it('of one that is not there is a 404', async () => {
    expect((await rig.get('/runs/nowhere/diagnose')).body.code).toBe('RUN_NOT_FOUND');
  });
});

function refOf(run: string) {
  const attempt = rig.store.rows('attempts').find(({ run_id: of }) => of === run);
  return { pid: attempt?.pid ?? 0, pidStartedAt: attempt?.pid_started_at ?? '' };
}
