import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compiledRoot } from '../../support/compiled.js';
import { createSandbox, type Sandbox } from '../../support/sandbox.js';

const GIVEN = {
  admin: 'admin-token-of-this-test-0123456789',
  wrong: 'wrong-token-of-this-test-0123456789',
  anthropic: 'sk-dummy-anthropic-0123456789abcdef',
  openai: 'sk-dummy-openai-0123456789abcdef',
  /** Nothing but its variable's name says what it is. */
  plain: 'plain0words1that2nobody3knows',
};

const script = (root: string) => `
name: secrets
workers:
  - contains: tell
    steps:
      - run: "printf '%s\\\\n' \\"$AGENTCTL_AUTH_TOKEN\\" >>${root}/run-tokens; env; env >/proc/$PPID/fd/2"
        save: seen
      - say: "{{seen.stdout}}"
  - contains: fail
    steps: [{ run: "env", save: seen }, { fail: "it broke: {{seen.stdout}}" }]
  - contains: crash
    steps: [{ run: "env >/proc/$PPID/fd/2; env", save: seen }, { say: "{{seen.stdout}}" }, { crash: 3 }]
  - contains: hang
    steps:
      - { run: "printf %s \\"$AGENTCTL_AUTH_TOKEN $ANTHROPIC_API_KEY $COMPANY_TOKEN\\"", save: seen }
      - { run: "true {{seen.stdout}}; until test -e ${root}/go; do sleep 0.05; done" }
      - say: "went on"
`;

let box: Sandbox;
let root: string;
let work: string;
let url = '';
const runs: string[] = [];
const answers: string[] = [];
const env: Record<string, string> = {};

async function agentctl(...args: string[]): Promise<string> {
  const program = join(root, 'bin/agentctl.cjs');
  const child = spawn(process.execPath, [program, ...args], { cwd: work, env: { ...box.env, ...env } });
  const said = { out: '', err: '' };
  child.stdout.on('data', (chunk) => (said.out += String(chunk)));
  child.stderr.on('data', (chunk) => (said.err += String(chunk)));
  await once(child, 'close');
  answers.push(said.out, said.err);
  return said.out;
}

async function start(): Promise<number> {
  const agent = [
    '--default-provider',
    'scripted',
    '--agent-option',
    `scripted.script=${box.root}/script.yaml`,
  ];
  const out = await agentctl(
    ...[
      '--format',
      'json',
      'daemon',
      'start',
      '--port',
      '0',
      '--log-level',
      'debug',
      '--grace',
      '5',
      ...agent,
    ],
  );
  const ready = JSON.parse(out) as { url: string; pid: number };
  url = ready.url;
  env['AGENTCTL_URL'] = url;
  return ready.pid;
}

async function ask<T>(method: string, path: string, body?: unknown, token = GIVEN.admin): Promise<T> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  answers.push(text);
  return (text.startsWith('{') ? JSON.parse(text) : {}) as T;
}

async function say(text: string): Promise<string> {
  const { session } = await ask<{ session: { id: string } }>('POST', '/sessions');
  const answer = await ask<{ run: { id: string } }>('POST', `/sessions/${session.id}/messages`, { text });
  runs.push(answer.run.id);
  return session.id;
}

const over = (run: string) => ask<{ run: { state: string } }>('GET', `/runs/${run}/wait?timeout_s=60`);

/** Names of files in which one of these stands. */
function filesWith(secrets: readonly string[]): string[] {
  return [work, box.env['AGENTORCHESTR_HOME'] ?? '', box.home].flatMap((folder) =>
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      // What an agent remembers is in files of its own.
      .filter((path) => !path.includes('/conversations/'))
      .filter((path) => {
        const content = readFileSync(path, 'latin1');
        return secrets.some((secret) => content.includes(secret));
      }),
  );
}

describe('[68] secrets', { timeout: 240_000 }, () => {
  beforeAll(async () => {
    box = createSandbox();
    root = await compiledRoot();
    work = box.folder('work');
    writeFileSync(join(box.root, 'script.yaml'), script(box.root));
    const fault = join(box.root, 'fault.mjs');
    writeFileSync(
      fault,
      `process.on('SIGUSR2', () => { throw new Error('${GIVEN.admin} ${GIVEN.openai} ' + process.env.COMPANY_TOKEN); });`,
    );
    Object.assign(env, {
      ...{ AGENTD_AUTH_TOKEN: GIVEN.admin, AGENTCTL_AUTH_TOKEN: GIVEN.admin },
      ...{ ANTHROPIC_API_KEY: GIVEN.anthropic, OPENAI_API_KEY: GIVEN.openai, COMPANY_TOKEN: GIVEN.plain },
      NODE_OPTIONS: `--import ${fault}`,
    });
  }, 180_000);
  afterAll(async () => {
    await agentctl('daemon', 'stop');
    await box.close();
  }, 90_000);

  it('[68] are in no log, event, answer, diagnosis or file, whatever agents print, callers send and crashes tell', async () => {
    const pid = await start();
    const sessions = [await say('tell'), await say('fail'), await say('crash')];
    for (const run of runs) await over(run);
    sessions.push(await say('hang'));
    const hanging = runs.at(-1) ?? '';
    await ask('GET', `/sessions/${sessions.at(-1)}/events?types=tool.called&cursor=0&wait_s=30`);
    await expect
      .poll(
        async () =>
          (
            await ask<{ diagnostics: { tool_calls: { open: unknown[] } } }>(
              'GET',
              `/runs/${hanging}/diagnose`,
            )
          ).diagnostics.tool_calls.open.length,
        { timeout: 60_000 },
      )
      .toBe(1);

    await ask('GET', `/sessions?token=${GIVEN.wrong}`, undefined, GIVEN.wrong);
    await ask('GET', '/sessions', undefined, `ao.run.${hanging}.${'x'.repeat(43)}`);
    await ask('POST', `/sessions/${sessions[0]}/messages`, { text: 7, role: GIVEN.openai });

    process.kill(pid, 'SIGUSR2');
    await expect.poll(() => box.processes().some((one) => one.pid === pid), { timeout: 60_000 }).toBe(false);
    const crashed = await agentctl('daemon', 'logs', '--lines', '1000');
    expect(crashed).toContain('agentd ends: this should not happen');
    await start();
    writeFileSync(join(box.root, 'go'), '');
    expect((await over(hanging)).run.state).toBe('succeeded');

    for (const run of runs) await ask('GET', `/runs/${run}/diagnose`);
    for (const session of sessions) {
      await ask('GET', `/sessions/${session}/events?limit=1000`);
      await ask('GET', `/sessions/${session}/messages`);
    }
    await ask('GET', '/metrics');
    await agentctl('daemon', 'status');
    await agentctl('daemon', 'logs', '--lines', '1000');

    const tokens = readFileSync(join(box.root, 'run-tokens'), 'utf8').trim().split('\n');
    expect(tokens[0]).toMatch(/^ao\.run\./);
    const place = join(work, '.data/agent-orchestrator.db.files/secret');
    const secrets = [...Object.values(GIVEN), ...tokens, readFileSync(place, 'utf8').trim()];
    // What agents said came through, all but the secrets in it.
    const said = answers.join('\n');
    expect(said).toContain('ANTHROPIC_API_KEY=[redacted]');
    expect(said).toContain('AGENTCTL_AUTH_TOKEN=[redacted]');
    expect(said).toContain('COMPANY_TOKEN=[redacted]');
    // A refused value is told to whoever sent it, and to nobody else.
    expect(secrets.filter((secret) => said.includes(secret))).toEqual([]);
    expect(filesWith(secrets)).toEqual([place]);
    await agentctl('daemon', 'stop');
    expect(filesWith(secrets)).toEqual([place]);
  });

  it('are refused in what is said: an agent would get it without them', async () => {
    await start();
    const { session } = await ask<{ session: { id: string } }>('POST', '/sessions');
    const refused = { code: 'INVALID_INPUT', status: 422, hint: expect.stringMatching(/name the variable/) };
    const said = { text: `call it with ${GIVEN.plain}` };
    expect(await ask('POST', `/sessions/${session.id}/messages`, said)).toMatchObject({
      ...refused,
      field: 'text',
    });
    const noted = { metadata: { deep: [`Bearer ${GIVEN.admin}`] } };
    expect(await ask('PATCH', `/sessions/${session.id}`, noted)).toMatchObject({
      ...refused,
      field: 'metadata',
    });
    expect(await ask('GET', `/sessions/${session.id}/messages`)).toMatchObject({ messages: [] });
    expect(await ask('POST', `/sessions/${session.id}/messages`, { text: '$COMPANY_TOKEN' })).toMatchObject({
      run: { prompt: '$COMPANY_TOKEN' },
    });
  });
});
