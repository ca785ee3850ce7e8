import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { compiledRoot } from '../../support/compiled.js';
import { Rig } from './rig.js';

let rig: Rig;
beforeAll(() => compiledRoot(), 180_000);
beforeEach(() => {
  rig = new Rig();
});
afterEach(() => rig.close());

async function play(steps: string, prompt = 'go'): Promise<void> {
  await rig.start(`lead: [{ steps: [${steps}] }]`, { role: 'lead' });
  await rig.untilState('idle');
  await rig.submit(prompt);
}

describe('the MCP client of the scripted agent', () => {
  it('calls tools with filled templates and keeps their results', async () => {
    rig.outside.tools = {
      spawn_worker: (input) => ({ worker_id: 'w01', echo: input['task'] }),
      worker_diff: () => ({ files: ['a.js'] }),
    };
    await play(`
      { call: spawn_worker, with: { task: 'from {{prompt}}', file_scope: [src] }, save: w },
      { call: worker_diff, with: { worker_id: '{{w.worker_id}}', stat_only: true } },
      { if: { 'last.files': { count: 1 } }, say: '{{w.echo}} changed {{last.files.0}}' },
      { if: { 'last.files': { count: 2 } }, say: not said }`);
    await rig.untilHook('Stop');
    expect(rig.outside.calls).toEqual([
      { name: 'spawn_worker', input: { task: 'from go', file_scope: ['src'] } },
      { name: 'worker_diff', input: { worker_id: 'w01', stat_only: true } },
    ]);
    expect(rig.outside.hooks.at(-1)?.['last_assistant_message']).toBe('from go changed a.js');
  });

  it('[51] asks again while a wait answers timeout', async () => {
    let asked = 0;
    rig.outside.tools = { wait_for_worker: () => ({ state: ++asked < 3 ? 'timeout' : 'done' }) };
    await play(
      `{ call: wait_for_worker, with: { worker_id: w01 }, while: { state: timeout }, expect: { state: done } }`,
    );
    await rig.untilHook('Stop');
    expect(asked).toBe(3);
  });

  it('gives up when a call never answers as wanted', async () => {
    rig.outside.tools = { wait_for_worker: () => ({ state: 'timeout' }) };
    await play(`{ call: wait_for_worker, until: { state: done }, limit: 2 }`);
    await rig.untilHook('StopFailure');
    expect(rig.outside.hooks.at(-1)?.['message']).toBe('wait_for_worker: still not as wanted after 2 calls');
  });

  it('fails its turn on a tool error, unless the script wants or allows one', async () => {
    rig.outside.tools = { report_done: () => new Error('REPORT_INCOMPLETE') };
    await play(`
      { report_done: a, expect_error: REPORT_INCOMPLETE },
      { report_done: b, allow_error: true },
      { say: 'allowed {{last.code}}' },
      { report_done: c }`);
    await rig.untilHook('StopFailure');
    expect(await rig.text()).toMatch(/● allowed REPORT_INCOMPLETE/);
    expect(rig.outside.hooks.at(-1)?.['message']).toMatch(
      /^report_done answered with an error: .*REPORT_INCOMPLETE/,
    );
  });

  it('reports once more when it insists and the first report was found incomplete', async () => {
    let reports = 0;
    rig.outside.tools = {
      report_done: () => (++reports === 1 ? new Error('REPORT_INCOMPLETE') : { accepted: true }),
    };
    await play(`{ report_done: no changes needed, insist: true }`);
    await rig.untilHook('Stop');
    expect(reports).toBe(2);
  });

  it('runs steps in parallel and repeats them', async () => {
    const release: (() => void)[] = [];
    rig.outside.tools = {
      meet: () =>
        new Promise((resolve) => {
          release.push(() => resolve({}));
          if (release.length === 3) for (const go of release) go();
        }),
      count: (input) => input,
    };
    await play(`
      { parallel: [{ call: meet }, { call: meet }, { repeat: 1, steps: [{ call: meet }] }] },
      { repeat: 3, as: n, steps: [{ call: count, with: { n: '{{n}}' } }] }`);
    await rig.untilHook('Stop');
    expect(rig.outside.calls.filter(({ name }) => name === 'count').map(({ input }) => input['n'])).toEqual([
      1, 2, 3,
    ]);
  });

  it('lets progress keep a long call alive, and shows it', async () => {
    let finish: (value: unknown) => void = () => {};
    rig.outside.tools = {
      verify: async (_input, progress) => {
        await progress('12 tests passed');
        return new Promise((resolve) => {
          finish = resolve;
        });
      },
    };
    await play(`{ call: verify }`);
    await rig.untilText(/12 tests passed…/);
    finish({ state: 'passed' });
    await rig.untilHook('Stop');
  });

  it('waits for a server that is not there yet', async () => {
    rig.outside.tools = { list_workers: () => ({ workers: [] }) };
    await rig.outside.open();
    await rig.outside.close();
    await play(`{ call: list_workers }, { say: served }`);
    await rig.untilText(/Waiting for the MCP server…/);
    await rig.outside.open();
    await rig.untilText(/● served/);
  });

  it('makes a call anew, with a new session, when the server was restarted in the middle of it', async () => {
    let calls = 0;
    rig.outside.tools = {
      wait_for_worker: () => (++calls === 1 ? new Promise(() => {}) : { state: 'done' }),
    };
    await play(
      `{ call: wait_for_worker, with: { worker_id: w01 }, expect: { state: done } }, { say: finally }`,
    );
    await rig.until('the first call arrived', () => calls === 1);
    await rig.outside.close();
    await rig.untilText(/Waiting for the MCP server…/);
    await rig.outside.open();
    await rig.untilText(/● finally/);
    expect(rig.outside.calls.map(({ name }) => name)).toEqual(['wait_for_worker', 'wait_for_worker']);
  });

  it('goes on in the same conversation after a restart between two calls', async () => {
    rig.outside.tools = { list_workers: () => ({ workers: [] }) };
    await play(`{ call: list_workers }, { say: listed }`);
    await rig.untilHook('Stop');
    await rig.untilState('idle');
    await rig.outside.close();
    await rig.outside.open();
    await rig.submit('again');
    await rig.untilHook('Stop', 2);
    expect(rig.outside.calls).toHaveLength(2);
  });

  it('does not make a lost call anew when the script forbids it', async () => {
    let calls = 0;
    rig.outside.tools = { wait_for_worker: () => (calls++, new Promise(() => {})) };
    await play(`{ call: wait_for_worker, retry: false }`);
    await rig.until('the call arrived', () => calls === 1);
    await rig.outside.close();
    await rig.untilState('error');
    expect(await rig.text()).toMatch(/■ wait_for_worker: /);
  });

  it('gives up on a server that stays away longer than its patience', async () => {
    await rig.outside.open();
    await rig.outside.close();
    await rig.start('{ settings: { mcp_patience_ms: 300 }, lead: [{ steps: [{ call: list_workers }] }] }', {
      role: 'lead',
    });
    await rig.untilState('idle');
    await rig.submit('go');
    await rig.untilState('error');
    expect(await rig.text()).toMatch(/■ list_workers: fetch failed/);
  });
});
